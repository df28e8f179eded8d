"""The daemon that has the subnet is killed, and one with its journal comes."""

import json
import signal

import pytest

from harness import JoinedFabric, ListeningFabric, until
from pairs import exchange, leases, state

pytestmark = pytest.mark.deep

TOPOLOGY = "single-switch:hosts=6"
HOSTS = ["node-1", "node-2"]
PING = ["ibv_rc_pingpong", "-n", "100", "-s", "100000"]
LINES = ["stdbuf", "-oL"]


@pytest.fixture(params=[JoinedFabric, ListeningFabric], ids=["socket", "tcp"])
def lab(request, account):
    made = request.param(account, "journal", TOPOLOGY, sm="builtin",
                         options=[f"--journal={account.home}/journal"])
    labs = [made]

    def again():
        """Another daemon, which the same hosts join."""
        labs[-1].daemon.stop(signal.SIGKILL)
        labs.append(made.again(TOPOLOGY, sm="builtin",
                               options=[f"--journal={account.home}/journal"]))
        labs[-1].drivers = made.drivers
        return labs[-1]

    made.restart = again
    yield made
    for each in reversed(labs):
        each.stop()


def node(lab, host):
    return next(node for node in json.loads(lab.ibemu("nodes", "--json").stdout)
                if node["description"] == host)


def lid(lab, host):
    return node(lab, host)["ports"][0]["lid"]


def is_answered(lab):
    """Whether what ibping sends to its agent on node-1 is."""
    return lab.run("node-2", "ibping", "-c", "1", "-L", lid(lab, "node-1"),
                   check=False).returncode == 0


def test_joined_hosts_find_the_same_subnet(lab):
    for host in HOSTS:
        lab.drive(host)
    watch = lab.start("node-1", *LINES, "ibv_asyncwatch")
    watch.wait_for("async event FD")
    agent = lab.start("node-1", "ibping", "--Server")
    until(lambda: is_answered(lab))
    exchange(lab, "node-1", lab.on("node-2"), *PING)
    lab.ibemu("console", input='Baselid "node-2"[1] 40\n')
    lab.ibemu("link", "node-6/1", "down")
    lab.ibemu("fault", "add", "--name=bad-cable", "link", "node-1/1",
              "duplicate", "100%", "dir", "rx")
    until(lambda: leases(lab, "node-2") == 0)
    again = lab.restart()
    until(lambda: [state(again, host) for host in HOSTS] == ["ACTIVE"] * 2)
    # What programs see: a port that went, and one that came.
    watch.wait_for(r"IBV_EVENT_PORT_ERR \(10\), port 1")
    watch.wait_for(r"IBV_EVENT_PORT_ACTIVE \(9\), port 1")
    assert lid(again, "node-2") == 40
    assert node(again, "node-6")["ports"][0]["state"] == "down"
    exchange(again, "node-1", again.on("node-2"), *PING)
    # Who had a umad open still has his agent there.
    until(lambda: is_answered(again))
    assert agent.process.poll() is None, agent.output
    [fault] = again.faults()
    assert fault["name"] == "bad-cable"
    assert fault["rx"]["duplicated"] >= 100 * 25


def joined(lab):
    return {host["node"] for host in
            json.loads(lab.ibemu("status", "--json").stdout)["joined"]}


def test_a_host_that_was_any_is_the_same_again(lab, background):
    first = lab.drive("any")
    [taken] = joined(lab)
    first.signal(signal.SIGSTOP)
    again = lab.restart()
    # Who comes earlier does not get that one.
    second = background("ibemu", "run", *again.taking("any"), "--", "sleep",
                        "1000")
    until(lambda: len(joined(again)) == 1)
    [other] = joined(again)
    assert other != taken
    first.signal(signal.SIGCONT)
    until(lambda: joined(again) == {taken, other})
    second.stop()
    until(lambda: joined(again) == {taken})
