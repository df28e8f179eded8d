"""A kubelet as device plugins see it, in the names and numbers of version v1beta1
of Kubernetes's device plugin API."""

import collections
import concurrent.futures
import queue

import grpc

PATIENCE = 120  # seconds


def _number(message, at):
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        shift += 7
        at += 1
        if byte < 128:
            return value, at


def fields(message):
    """{number: [value, ...]} of a message of protobuf; texts and messages are
    bytes."""
    found, at = collections.defaultdict(list), 0
    while at < len(message):
        key, at = _number(message, at)
        value, at = _number(message, at)
        if key & 7 == 2:
            value, at = message[at:at + value], at + value
        found[key >> 3].append(value)
    return found


def text(message, number):
    value, = fields(message)[number]
    return value.decode()


def field(number, content):
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


class Plugin:
    """A plugin that has registered."""

    def __init__(self, folder, registered):
        self.version, self.endpoint, self.resource = (
            text(registered, number) for number in (1, 2, 3))
        self._channel = grpc.insecure_channel(f"unix:{folder}/{self.endpoint}")
        self._list = self._channel.unary_stream(
            "/v1beta1.DevicePlugin/ListAndWatch")(b"", timeout=PATIENCE)

    def health(self):
        """{device: its health}, once there is something new."""
        devices = fields(next(self._list))[1]
        return {text(each, 1): text(each, 2) for each in devices}

    def allocate(self, *devices):
        """(mounts, devices) for a container: [(container's path, node's path)]."""
        container = b"".join(field(1, each.encode()) for each in devices)
        answer = self._channel.unary_unary("/v1beta1.DevicePlugin/Allocate")(
            field(1, container), timeout=PATIENCE)
        needs, = fields(answer)[1]
        mounts, files = fields(needs)[2], fields(needs)[3]
        assert all(fields(each)[3] == [1] for each in mounts)  # read-only
        assert all(text(each, 3) == "rw" for each in files)
        return tuple([(text(each, 1), text(each, 2)) for each in kind]
                     for kind in (mounts, files))


class Kubelet:
    """Serves `folder`/kubelet.sock until it is stopped."""

    def __init__(self, folder):
        self._folder = folder
        self._registered = queue.Queue()
        folder.mkdir(parents=True, exist_ok=True)
        for socket in folder.iterdir():  # as one does that starts
            socket.unlink()
        self._server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
        self._server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(
            "v1beta1.Registration", {"Register": grpc.unary_unary_rpc_method_handler(
                self._register)})])
        self._server.add_insecure_port(f"unix:{folder}/kubelet.sock")
        self._server.start()

    def _register(self, request, context):
        self._registered.put(request)
        return b""

    def plugin(self):
        """The next that registers."""
        return Plugin(self._folder, self._registered.get(timeout=PATIENCE))

    def stop(self):
        self._server.stop(None).wait()
