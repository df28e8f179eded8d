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


def ended_well(command, status_code, said):
    """Whether a program ended as it should.  rping's main thread closes the
    channel in which its second thread waits for events: if that one looks once
    more before the process is gone, it ends the process with -1."""
    its_own_race = (command[0] == "rping" and status_code == 255 and
                    "rdma_get_cm_event: Bad file descriptor" in said)
    return status_code == 0 or its_own_race


def meet(lab, server, client, ends=True):
    """What server and client say.  `ends`: whether the server ends with its
    client; it is ended otherwise."""
    serving = serve(lab, *server)
    done = lab.run("node-2", *client, check=False)
    said = done.stdout + done.stderr
    assert ended_well(client, done.returncode, said), said + serving.output
    if ends:
        status_code = serving.wait()
        assert ended_well(server, status_code, serving.output), serving.output
    else:
        serving.stop()
    return serving.output, said
