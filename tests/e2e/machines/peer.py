"""A peer of a head that has a certificate and does as it likes: it speaks gRPC,
but its messages are bytes.  And what is between a head and its peers: what hears
them, and repeats or changes what they say."""

import concurrent.futures
import contextlib
import queue
import re
import select
import socket
import ssl
import struct
import subprocess
import threading

import grpc

from harness import DEADLINE

SUBNET = "/ibemu.peers.v1.Subnet/"
# Of a node link: daemon/remote_node/format/node_link_format.h.
PACKET, REQUEST, IS_SM, ENABLE, DESCRIPTION, ECHO = 1, 3, 5, 6, 7, 15


def number(value):
    """A varint of protobuf."""
    text = b""
    while value > 127:
        text += bytes([value & 127 | 128])
        value >>= 7
    return text + bytes([value])


def field(tag, content):
    if isinstance(content, int):
        return number(tag << 3) + number(content)
    return number(tag << 3 | 2) + number(len(content)) + content


def attach(node, version, more=b""):
    """A FromAdapter that asks for a host."""
    return field(1, field(1, node.encode()) + field(2, version) + more +
                 field(7, version))


def data(content):
    """A FromAdapter of a node link's bytes."""
    return field(2, content)


def message(kind, payload=b"", port=1):
    """One of a node link."""
    return struct.pack(">IBBxx", len(payload), kind, port) + payload


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags, stream, payload):
    """One of HTTP/2."""
    return struct.pack(">IBBI", len(payload), kind, flags, stream)[1:] + payload


DATA, HEADERS, SETTINGS, PING = 0, 1, 4, 6
END_STREAM, END_HEADERS, ACK = 1, 4, 1


def beginning_of_call(stream, method):
    """A call of gRPC, of which the messages are to come."""
    headers = b"".join(
        b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value
        for name, value in [
            (b":method", b"POST"), (b":scheme", b"https"),
            (b":path", method.encode()), (b":authority", b"localhost"),
            (b"content-type", b"application/grpc"), (b"te", b"trailers")])
    return frame(HEADERS, END_HEADERS, stream, headers)


def whole_call(stream, method, content):
    """One with one message."""
    return beginning_of_call(stream, method) + frame(
        DATA, END_STREAM, stream, struct.pack(">BI", 0, len(content)) + content)


def frames_from(connection):
    """(kind, flags, stream) of what comes; it is asked whether we are there."""
    file = connection.makefile("rwb")
    while header := file.read(9):
        length, kind, flags, stream = struct.unpack(">IBBI", b"\0" + header)
        content = file.read(length)
        if kind == PING and not flags:
            file.write(frame(PING, ACK, 0, content))
            file.flush()
        yield kind, flags, stream


@contextlib.contextmanager
def tls_to(lab, context=None):
    """A connection to the head, by default as one of its machines."""
    if context is None:
        context = ssl.create_default_context(
            cafile=lab.certificates / "pc7/ca.crt")
        context.load_cert_chain(lab.certificates / "pc7/tls.crt",
                                lab.certificates / "pc7/tls.key")
    context.set_alpn_protocols(["h2"])
    with (socket.create_connection(("localhost", lab.port), 60) as plain,
          context.wrap_socket(plain, server_hostname="localhost") as tls):
        yield tls


def folder(lab, machine):
    """Key, certificate and authority of a machine."""
    return [(lab.certificates / machine / name).read_bytes()
            for name in ("tls.key", "tls.crt", "ca.crt")]


class Peer:
    """A connection of its own to the head."""

    def __init__(self, lab, machine="pc7"):
        key, certificate, authority = folder(lab, machine)
        self.channel = grpc.secure_channel(
            f"localhost:{lab.port}", grpc.ssl_channel_credentials(
                authority, key, certificate), [
                    ("grpc.use_local_subchannel_pool", 1),
                    ("grpc.enable_http_proxy", 0)])

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.channel.close()

    def call(self, method, messages):
        """The messages of the answer, as they come."""
        return self.channel.stream_stream(method)(messages, timeout=DEADLINE)

    def ask(self, method, *messages):
        """Returns (messages of the answer, code, details)."""
        call = self.call(method, iter(messages))
        answers = []
        with contextlib.suppress(grpc.RpcError):
            answers.extend(call)
        return answers, call.code(), call.details()

    def attach_host(self, *messages):
        return self.ask(SUBNET + "AttachHost", *messages)

    def version(self):
        """The one of the head's node link, as it refuses another."""
        details = self.attach_host(attach("node-1", 0))[2]
        return int(re.search(r"speaks version (\d+) of the node link, the other "
                             r"one 0: have the same on both", details)[1])


class HeldHost:
    """A host that a peer has, until close()."""

    def __init__(self, peer, node, more=b""):
        self._said = queue.SimpleQueue()
        self.say(attach(node, peer.version(), more))
        self.call = peer.call(SUBNET + "AttachHost", iter(self._said.get, None))
        next(self.call)  # Attached

    def say(self, content):
        """A FromAdapter."""
        self._said.put(content)

    def code(self):
        """Reads to the end; the status that comes with it."""
        with contextlib.suppress(grpc.RpcError):
            for _ in self.call:
                pass
        return self.call.code()

    def close(self):
        self._said.put(None)
        self.call.cancel()


def serving(daemon):
    """The process by which a daemon reaches other machines: the child of the one
    that makes it again."""
    process = daemon.process.pid
    for _ in range(2):
        [process] = subprocess.run(
            ["pgrep", "--parent", str(process), "ibemu-peers"], check=True,
            stdout=subprocess.PIPE, text=True).stdout.split()
    return int(process)


class Recorder:
    """Hands connections on to a port of this machine, until the end of the
    `with`.  `said`: for each, what who connected has said.  `port`: its own."""

    def __init__(self, target=None):
        self.target = target
        self.said = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._over, self._end = socket.socketpair()
        self._thread = threading.Thread(target=self._carry)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._end.close()
        self._thread.join()
        self._over.close()
        self._listener.close()

    def _carry(self):
        other, heard = {}, {}
        while True:
            ready, _, _ = select.select([self._over, self._listener, *other],
                                        [], [])
            if self._over in ready:
                break
            for one in ready:
                if one is self._listener:
                    caller, _ = self._listener.accept()
                    try:
                        called = socket.create_connection(
                            ("127.0.0.1", self.target))
                    except OSError:  # as who connects would hear himself
                        caller.close()
                        continue
                    other[caller], other[called] = called, caller
                    heard[caller] = bytearray()
                    self.said.append(heard[caller])
                elif one in other:
                    self._pass_on(one, other, heard)
        for each in other:
            each.close()

    @staticmethod
    def _pass_on(one, other, heard):
        try:
            some = one.recv(65536)
            if one in heard:
                heard[one] += some
            other[one].sendall(some)
        except OSError:
            some = b""
        if not some:
            for each in (one, other[one]):
                del other[each]
                each.close()


class Between(grpc.GenericRpcHandler):
    """Is the head to its peers, and a peer to the head, with the certificates of
    both.  `change` is called with the path of each method and each message of a
    peer, and returns what the head hears.  `port`: its own."""

    def __init__(self, lab, change):
        self._change = change
        self._peer = Peer(lab)
        self._server = grpc.server(
            concurrent.futures.ThreadPoolExecutor(32), handlers=[self],
            options=[("grpc.so_reuseport", 0)])
        key, certificate, authority = folder(lab, "head")
        self.port = self._server.add_secure_port(
            "127.0.0.1:0", grpc.ssl_server_credentials(
                [(key, certificate)], authority, require_client_auth=True))

    def __enter__(self):
        self._server.start()
        return self

    def __exit__(self, *error):
        self._server.stop(None).wait()
        self._peer.channel.close()

    def service(self, handler_call_details):
        method = handler_call_details.method

        def carry(messages, context):
            call = self._peer.call(method, (
                self._change(method, each) for each in messages))
            context.add_callback(call.cancel)
            try:
                yield from call
            except grpc.RpcError:
                context.abort(call.code(), call.details())

        return grpc.stream_stream_rpc_method_handler(carry)
