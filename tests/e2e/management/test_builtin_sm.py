"""--sm=builtin: a subnet manager inside the fabric, alone and beside opensm."""

import os
import re
import signal

import pytest

from harness import deep, until

TREE = "fat-tree:radix=8,levels=2"

# A switch that wins against hosts of the same priority: its GUID is lower.
STRONG_SWITCH = """
vendid=0x2c9
devid=0xbd36
switchguid=0x0000000000000010(10)
Switch 4 "S-0000000000000010" # "switch" enhanced port 0 lid 0 lmc 0
[1] "H-0000000000000100"[1](101) # "node-1" lid 0 4xQDR
[2] "H-0000000000000200"[1](201) # "node-2" lid 0 4xQDR

vendid=0x2c9
devid=0x673c
caguid=0x0000000000000100
Ca 1 "H-0000000000000100" # "node-1"
[1](101) "S-0000000000000010"[1] # lid 0 lmc 0 "switch" lid 0 4xQDR

vendid=0x2c9
devid=0x673c
caguid=0x0000000000000200
Ca 1 "H-0000000000000200" # "node-2"
[1](201) "S-0000000000000010"[2] # lid 0 lmc 0 "switch" lid 0 4xQDR
"""


@pytest.fixture
def managed(fabric):
    return fabric(TREE, sm="builtin")


def sminfo(subnet, host="node-5"):
    """LID, GUID, priority and state of the master that this host knows; None
    while that one does not answer."""
    done = subnet.run(host, "sminfo", check=False)
    if done.returncode != 0:
        return None
    lid, guid, priority, state = re.search(
        r"sm lid (\d+) sm guid 0x(\w+), activity count \d+ "
        r"priority (\d+) state \d (\w+)", done.stdout).groups()
    return int(lid), int(guid, 16), int(priority), state


def is_master(subnet, priority):
    found = sminfo(subnet)
    return found is not None and found[2:] == (priority, "SMINFO_MASTER")


def lids(subnet, host="node-1"):
    """The LID of each node, by its description."""
    text = subnet.run(host, "ibnetdiscover").stdout
    found = {name: int(lid) for name, lid in re.findall(
        r'"H-\w+"\[\d+\]\(\w+\)\s+# "(node-\d+)" lid (\d+)', text)}
    found[host] = int(re.search(
        r"Base lid: (\d+)", subnet.run(host, "ibstat").stdout)[1])
    return found


# The port by which each node sends, and GUID and LID of the one behind it.
def hops(subnet, from_lid, to_lid):
    trace = subnet.run("node-1", "ibtracert", from_lid, to_lid,
                       check=False)
    return re.findall(
        r"(?m)^\[(\d+)\] -> \w+ port \{0x(\w+)\}\[\d+\] lid (\d+)",
        trace.stdout)


def state_of(subnet, host):
    return subnet.run(host, "cat", "/sys/class/infiniband/ibemu0/ports/1/state"
                      ).stdout.strip()


def test_a_run_has_a_master_that_answers(account):
    run = ["ibemu", "run", "--sm=builtin", "--"]
    info = account.run(*run, "sminfo").stdout
    assert "SMINFO_MASTER" in info
    lid = int(re.search(r"sm lid (\d+)", info)[1])
    stat = account.run(*run, "ibstat").stdout
    assert "State: Active" in stat
    assert f"SM lid: {lid}" in stat
    assert account.run(*run, "ibnetdiscover").stdout.count("Ca\t") == 2


def test_it_lives_on_the_first_switch_of_a_tree(managed):
    lid, guid, priority, state = sminfo(managed)
    assert (priority, state) == (0, "SMINFO_MASTER")
    port = managed.run("node-1", "smpquery", "portinfo", lid, 0).stdout
    assert "IsSM" in port
    node = managed.run("node-1", "smpquery", "nodeinfo", lid).stdout
    assert "NodeType:........................Switch" in node
    assert f"PortGuid:........................0x{guid:016x}" in node
    info = managed.run("node-1", "smpquery", "portinfo",
                       lids(managed)["node-32"]).stdout
    assert f"SMLid:...........................{lid}\n" in info


def test_a_cut_makes_it_route_around_and_back(managed):
    lid = lids(managed)
    before = hops(managed, lid["node-1"], lid["node-32"])
    assert len(before) == 4
    (_, leaf, leaf_lid), (out_port, spine, _) = before[:2]
    managed.ibemu("link", f"0x{leaf}/{out_port}", "down")
    until(lambda: len(hops(managed, lid["node-1"], lid["node-32"])) == 4)
    after = hops(managed, lid["node-1"], lid["node-32"])
    assert after[1][0] != out_port
    assert after[1][1] != spine

    managed.ibemu("link", f"0x{leaf}/{out_port}", "up")
    until(lambda: "Active" in managed.run(
        "node-1", "smpquery", "portinfo", leaf_lid, out_port).stdout)
    assert len(hops(managed, lid["node-1"], lid["node-32"])) == 4


@pytest.mark.parametrize("what, away, back", [("node", "down", "up"),
                                              ("device", "remove", "add")])
def test_what_comes_back_has_its_old_lid(managed, what, away, back):
    before = lids(managed)
    managed.ibemu(what, "node-7", away)
    until(lambda: "node-7" not in lids(managed))
    managed.ibemu(what, "node-7", back)
    until(lambda: state_of(managed, "node-7") == "4: ACTIVE")
    assert lids(managed) == before
    assert len(hops(managed, before["node-1"], before["node-7"])) >= 2


@pytest.mark.parametrize("end", [signal.SIGTERM, *deep(signal.SIGKILL)])
def test_an_opensm_of_higher_priority_takes_over_and_gives_back(managed, end):
    ours = sminfo(managed)
    before = lids(managed)
    opensm = managed.start_opensm("node-1", "--priority", "5")
    opensm.wait_for("Entering MASTER state")
    until(lambda: is_master(managed, 5))
    theirs = sminfo(managed)
    assert theirs[0] == before["node-1"] and theirs[1] != ours[1]
    state = managed.run("node-5", "sminfo", ours[0]).stdout
    assert "SMINFO_STANDBY" in state

    # It is the master in earnest, and ours keeps its hands off.
    mark = opensm.mark()
    managed.ibemu("node", "node-9", "down")
    opensm.wait_for("SUBNET UP", since=mark)
    mark = opensm.mark()
    managed.ibemu("node", "node-9", "up")
    opensm.wait_for("SUBNET UP", since=mark)
    assert lids(managed) == before

    opensm.stop(end)
    until(lambda: sminfo(managed) == ours)
    assert lids(managed) == before
    managed.ibemu("node", "node-9", "down")
    managed.ibemu("node", "node-9", "up")
    until(lambda: state_of(managed, "node-9") == "4: ACTIVE")


@pytest.mark.deep
def test_an_opensm_that_is_stopped_loses_the_subnet_and_gets_it_back(managed):
    ours = sminfo(managed)
    program = managed.start(
        "node-1", "sh", "-c", "echo $$; exec opensm --log_file stdout "
        f"--pidfile {managed.account.home}/stopped.pid --priority 5")
    opensm = int(program.wait_for(r"^(\d+)$")[1])
    until(lambda: is_master(managed, 5))
    os.kill(opensm, signal.SIGSTOP)
    try:
        until(lambda: sminfo(managed) == ours)
    finally:
        os.kill(opensm, signal.SIGCONT)
    until(lambda: is_master(managed, 5))


def test_an_opensm_with_a_lower_claim_stands_by(fabric, account):
    topology = account.home / "strong-switch.net"
    topology.write_text(STRONG_SWITCH)
    topology.chmod(0o644)
    subnet = fabric(topology, sm="builtin")
    ours = sminfo(subnet, "node-2")
    opensm = subnet.start("node-1", "opensm", "--log_file", "stdout",
                          "--pidfile", account.home / "standby.pid",
                          "--priority", "0", "-s", "2")
    opensm.wait_for("Entering STANDBY state")
    assert sminfo(subnet, "node-2") == ours
    assert "SMINFO_STANDBY" in subnet.run("node-1", "sminfo", "-D", "0").stdout


def test_too_large_a_subnet_is_refused_with_both_numbers(account):
    done = account.run("ibemu", "run", "--topology=fat-tree:radix=64,levels=3",
                       "--sm=builtin", "--", "true", check=False)
    assert done.returncode != 0
    assert "needs 70656 LIDs, a subnet has 49151" in done.stderr
