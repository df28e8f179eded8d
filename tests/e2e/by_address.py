"""Programs that connect by address: a server on node-1, a client on node-2."""

import json

from harness import until

PAIR = "single-switch:hosts=2"
SERVER = "198.18.0.1"
CLIENT = "198.18.0.2"
LINES = ["stdbuf", "-oL"]  # tell at once what is printed


def status(lab, host):
    """What `ibemu status HOST` says of its adapter."""
    return json.loads(lab.ibemu("status", "--json", host).stdout)["adapters"][0]


def serve(lab, *command):
    """Starts a server on node-1; returns it when it listens."""
    def listeners():
        return {(one["pid"], one["service_id"])
                for one in status(lab, "node-1")["listeners"]}

    before = listeners()
    serving = lab.start("node-1", *LINES, *command)

    def listens():
        assert serving.process.poll() is None, serving.output
        return listeners() - before

    until(listens)
    return serving


def meet(lab, server, client, ends=True):
    """What server and client say.  `ends`: whether the server ends with its
    client; it is ended otherwise."""
    serving = serve(lab, *server)
    done = lab.run("node-2", *client, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said + serving.output
    if ends:
        assert serving.wait() == 0, serving.output
    else:
        serving.stop()
    return serving.output, said
