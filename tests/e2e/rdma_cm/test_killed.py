"""kill -9 of either end of a connection, in each of its states: the other end
hears of it as Linux tells it, and nothing is left behind."""

import os
import pathlib
import signal

import pytest

from by_address import PAIR, meet, status
from harness import Fabric, deep, until

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
# one hears then.
@pytest.mark.parametrize("server, client, killed, heard", [
    ("listening", "route resolved", "server", NOTHING),
    # Who has not accepted yet hears nothing.
    ("asked", "asking", "client", NOTHING),
    ("asked", "asking", "server", REJECTED),
    ("connected", "connected", "client", DISCONNECTED),
    ("connected", "connected", "server", DISCONNECTED),
    # The server has heard of the end before.
    ("connected", "disconnecting", "client", NOTHING),
    *deep(("bound", "made", "server", NOTHING),
          ("listening", "made", "client", NOTHING),
          ("listening", "address resolved", "client", NOTHING),
          ("listening", "route resolved", "client", NOTHING),
          ("connected", "disconnecting", "server", DISCONNECTED)),
])
def test_the_other_end_hears_of_it_and_nothing_is_left(pair, server, client,
                                                       killed, heard):
    ends = {"server": start(pair, "node-1", "server", server)}
    ends["server"][0].wait_for(
        "^listening$" if server != "bound" else "^bound$")
    ends["client"] = start(pair, "node-2", "client", client)
    for role, state in (("server", server), ("client", client)):
        ends[role][0].wait_for(f"^{state}$")
    if client == "disconnecting":
        ends["server"][0].wait_for("^RDMA_CM_EVENT_DISCONNECTED$")
    other, process = ends["client" if killed == "server" else "server"]
    since = other.mark()
    os.kill(ends[killed][1], signal.SIGKILL)
    assert ends[killed][0].wait() == -signal.SIGKILL
    if heard:
        other.wait_for(f"^RDMA_CM_EVENT_{heard}$", since)
    host = {"server": "node-1", "client": "node-2"}
    until(lambda: is_clean(pair, host[killed]))
    os.kill(process, signal.SIGKILL)
    other.wait()
    events = [line for line in other.output.splitlines()[since:]
              if line.startswith("RDMA_CM_EVENT_")]
    assert len(events) == (0 if heard is NOTHING else 1), events
    for one in host.values():
        until(lambda one=one: is_clean(pair, one))
    # The port is free, and both hosts connect as before.
    meet(pair, ["rping", "-s", "-p", "7777", "-C", "1"],
         ["rping", "-c", "-p", "7777", "-C", "1", "-a", "198.18.0.1"])


def test_who_accepts_after_its_client_was_killed_gets_an_error(pair):
    server, process = start(pair, "node-1", "server", "late")
    server.wait_for("^listening$")
    client, victim = start(pair, "node-2", "client", "asking")
    server.wait_for("^asked$")
    os.kill(victim, signal.SIGKILL)
    client.wait()
    until(lambda: is_clean(pair, "node-2"))
    until(lambda: [one["state"] for one in
                   status(pair, "node-1")["connections"]] == ["closed"])
    os.kill(process, signal.SIGUSR1)
    server.wait_for("Errno: 22, Invalid argument")
    assert server.wait() == 0
    assert is_clean(pair, "node-1")
