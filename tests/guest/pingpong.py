"""Programs that agree by TCP on what they do then over an adapter."""

import pathlib
import re

from harness import until
from mlx4_guest import THIS_MACHINE
from perftest import free_port


def listeners(port):
    """A pattern of what Linux's tables of TCP have while someone listens."""
    return f":{port:04X} [0:]* 0A"


def start_server(lab, host, command, port):
    """Returns when it listens, which none of these programs tells."""
    server = lab.start(host, *command)

    def listens():
        assert server.process.poll() is None, server.output
        return any(re.search(listeners(port), table.read_text())
                   for table in pathlib.Path("/proc/net").glob("tcp*"))

    until(listens)
    return server


def check(iterations, *outputs):
    for said in outputs:
        assert f"{iterations} iters in" in said
        assert "invalid data" not in said


def play(lab, guest, program, iterations, *options, front=""):
    """One of libibverbs's examples is server on node-1, and client in the
    guest, which is connected to this machine; `front` goes before it there."""
    port = free_port()
    command = [program, "-p", str(port), "-n", str(iterations), *options]
    server = start_server(lab, "node-1", command, port)
    client = guest.say(front + " ".join([*command, THIS_MACHINE]))
    assert server.wait() == 0, server.output
    check(iterations, client, server.output)
