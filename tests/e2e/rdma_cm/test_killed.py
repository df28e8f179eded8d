"""kill -9 of either end of a connection, in each of its states: the other end
hears of it as Linux tells it, and nothing is left behind."""

import os
import pathlib
import signal

import pytest

from by_address import PAIR, meet, status
from harness import Fabric, until

SCRIPT = (pathlib.Path(__file__).parent / "states.py").read_text()
NOTHING, REJECTED, DISCONNECTED = None, "REJECTED", "DISCONNECTED"


@pytest.fixture(scope="module")
def pair(module_account):
    made = Fabric(module_account, "killed", PAIR, sm="builtin")
    yield made
    made.stop()


def start(pair, host, role, state):
    """A program that is in this state, and its process."""
    program = pair.start(host, "/usr/bin/python3", "-B", "-c", SCRIPT, role, state)
    return program, int(program.wait_for(r"process (\d+)")[1])


def is_clean(pair, host):
    node = status(pair, host)
    return node["listeners"] == node["connections"] == []


# Up to where the server and the client go, who is killed, and what the other
# one hears.
@pytest.mark.parametrize("server, client, killed, heard", [
    ("bound", "made", "server", NOTHING),
    ("listening", "made", "client", NOTHING),
    ("listening", "address resolved", "client", NOTHING),
    ("listening", "route resolved", "client", NOTHING),
    ("listening", "route resolved", "server", NOTHING),
    # Who has not accepted yet hears nothing; to accept fails.
    ("asked", "asking", "client", NOTHING),
    ("asked", "asking", "server", REJECTED),
    ("connected", "connected", "client", DISCONNECTED),
    ("connected", "connected", "server", DISCONNECTED),
    ("connected", "disconnecting", "client", DISCONNECTED),
    ("connected", "disconnecting", "server", DISCONNECTED),
])
def test_the_other_end_hears_of_it_and_nothing_is_left(pair, server, client,
                                                       killed, heard):
    ends = {"server": start(pair, "node-1", "server", server)}
    ends["server"][0].wait_for(
        "^listening$" if server != "bound" else "^bound$")
    ends["client"] = start(pair, "node-2", "client", client)
    for role, state in (("server", server), ("client", client)):
        ends[role][0].wait_for(f"^{state}$")
    os.kill(ends[killed][1], signal.SIGKILL)
    assert ends[killed][0].wait() == -signal.SIGKILL
    other, process = ends["client" if killed == "server" else "server"]
    if heard:
        other.wait_for(f"^RDMA_CM_EVENT_{heard}$")
    host = {"server": "node-1", "client": "node-2"}
    until(lambda: is_clean(pair, host[killed]))
    os.kill(process, signal.SIGKILL)
    other.wait()
    for one in host.values():
        until(lambda one=one: is_clean(pair, one))
    # The port is free, and both hosts connect as before.
    meet(pair, ["rping", "-s", "-p", "7777", "-C", "1"],
         ["rping", "-c", "-p", "7777", "-C", "1", "-a", "198.18.0.1"])
