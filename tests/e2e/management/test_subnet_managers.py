"""opensm's routing engines, two opensm on one subnet, and osmtest."""

import re
import signal

import pytest

from harness import deep

TREE = "fat-tree:radix=8,levels=2"
TORUS = "torus:4x4x4"


def errors(log):
    return [line for line in log.splitlines() if " ERR " in line]


@pytest.mark.parametrize("engine, topology", [
    ("minhop", TREE), ("ftree", TREE), ("lash", TREE), ("dfsssp", TREE),
    *deep(("updn", TREE), ("dnup", TREE), ("sssp", TREE),
          ("minhop", "fat-tree:radix=4,levels=3"),
          ("minhop", "single-switch:hosts=8"), ("minhop", "back-to-back"),
          ("dor", TORUS), ("minhop", "dragonfly:a=4,h=2,p=2")),
])
def test_a_routing_engine_brings_the_subnet_up(fabric, engine, topology):
    subnet = fabric(topology)
    opensm = subnet.start_opensm("node-1", "-R", engine)
    assert errors(opensm.output) == []
    if topology != "back-to-back":  # no switch, so nothing to route
        assert re.search(rf"{engine} tables configured", opensm.output)
    every_pair_of_some_hosts_is_connected(subnet)


def every_pair_of_some_hosts_is_connected(subnet):
    text = subnet.run("node-2", "ibnetdiscover").stdout
    lids = [int(lid) for lid in re.findall(
        r'"H-\w+"\[\d+\]\(\w+\)\s+# "node-\d+" lid (\d+)', text)]
    if not lids:
        return
    pairs = [(lids[0], lids[-1]), (lids[-1], lids[1]),
             (lids[len(lids) // 2], lids[0])]
    script = " && ".join(f"ibtracert {a} {b}" for a, b in pairs)
    subnet.run("node-2", "sh", "-c", script)


def test_torus_2qos_brings_a_torus_up(fabric, account):
    subnet = fabric(TORUS)
    text = subnet.account.run("ibemu", "topology", "generate", TORUS).stdout
    guids = {tuple(map(int, place)): guid for guid, *place in re.findall(
        r'switchguid=(\w+)\(\w+\)\n.*"switch-(\d)-(\d)-(\d)"', text)}
    conf = account.home / "torus-2QoS.conf"
    conf.write_text(torus_seed(guids, radix=4))
    conf.chmod(0o644)
    opensm = subnet.start_opensm("node-1", "-R", "torus-2QoS", "-Q",
                                 "--torus_config", conf)
    assert "torus-2QoS tables configured" in opensm.output
    assert errors(opensm.output) == []
    every_pair_of_some_hosts_is_connected(subnet)


def torus_seed(guids, radix):
    """torus-2QoS.conf(5): the switch at the origin and its neighbours; with
    four switches in a dimension both are needed."""
    lines = [f"torus {radix} {radix} {radix}"]
    for axis, name in enumerate("xyz"):
        for sign, step in (("p", 1), ("m", radix - 1)):
            place = tuple(step if i == axis else 0 for i in range(3))
            lines.append(f"{name}{sign}_link {guids[0, 0, 0]} {guids[place]}")
        lines.append(f"{name}_dateline 0")
    return "\n".join(lines) + "\n"


def sm_state(subnet, host):
    text = subnet.run(host, "sminfo", "-D", "0", check=False).stdout
    return (re.search(r"SMINFO_(\w+)", text) or [None, "none"])[1]


@pytest.mark.deep
def test_a_standby_opensm_takes_over_and_gives_back(fabric):
    subnet = fabric(TREE)
    first = subnet.start_opensm("node-1", "--priority", "10", "-s", "2")
    second = subnet.start("node-9", "opensm", "-f", "stdout", "--pidfile",
                          subnet.account.home / "second.pid",
                          "--priority", "5", "-s", "2")
    second.wait_for("Entering STANDBY state")
    assert sm_state(subnet, "node-1") == "MASTER"
    assert sm_state(subnet, "node-9") == "STANDBY"

    first.stop(signal.SIGKILL)
    second.wait_for("Entering MASTER state")
    second.wait_for("SUBNET UP", since=0)
    assert sm_state(subnet, "node-9") == "MASTER"
    assert "SMINFO_MASTER" in subnet.run("node-5", "sminfo").stdout

    mark = second.mark()
    subnet.start_opensm("node-1", "--priority", "10", "-s", "2")
    second.wait_for("Entering STANDBY state", since=mark)
    assert sm_state(subnet, "node-1") == "MASTER"


@pytest.fixture
def tested(fabric):
    """A subnet with opensm, and osmtest's inventory of it."""
    subnet = fabric(TREE)
    subnet.start_opensm("node-1")
    inventory = subnet.account.home / "osmtest.dat"
    create = osmtest(subnet, inventory, "c")
    assert create.returncode == 0, create.stdout[-3000:]
    return subnet, inventory


def osmtest(subnet, inventory, flow, *options):
    log = subnet.account.home / f"osmtest-{flow}.log"  # long: errors on purpose
    return subnet.run("node-9", "osmtest", "-f", flow, "-i", inventory,
                      "-l", log, *options, check=False, timeout=300)


# The flood is as long as other programs leave it time for.
FLOOD = pytest.param("f", marks=[pytest.mark.alone, pytest.mark.deep])


@pytest.mark.parametrize("flow", ["e", "q", FLOOD, *deep("m", "t", "a", "v", "s")])
def test_osmtest_passes(tested, flow):
    subnet, inventory = tested
    if flow == "t":  # osmtest has no more of it than its name; nodes do move
        for state in ("down", "up"):
            subnet.ibemu("node", "node-7", state)
    done = osmtest(subnet, inventory, flow)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert "PASS" in done.stdout


@pytest.mark.both_accounts
def test_a_cut_link_makes_opensm_route_around_it(fabric):
    subnet = fabric(TREE)
    opensm = subnet.start_opensm("node-1")
    text = subnet.run("node-1", "ibnetdiscover").stdout
    lid = {name: int(number) for name, number in re.findall(
        r'"H-\w+"\[\d+\]\(\w+\)\s+# "(node-\d+)" lid (\d+)', text)}
    lid["node-1"] = int(re.search(
        r"Base lid: (\d+)", subnet.run("node-1", "ibstat").stdout)[1])

    def way():
        trace = subnet.run("node-1", "ibtracert", lid["node-1"],
                           lid["node-32"]).stdout
        return re.findall(r"(?m)^\[(\d+)\] -> (\w+) port \{0x(\w+)\}\[(\d+)\]",
                          trace)

    before = way()
    # The uplink that the path takes: out of the first switch by this port.
    out_port = before[1][0]
    leaf = re.search(r'-> switch port \{0x(\w+)\}', subnet.run(
        "node-1", "ibtracert", lid["node-1"], lid["node-32"]).stdout)[1]
    mark = opensm.mark()
    subnet.ibemu("link", f"0x{leaf}/{out_port}", "down")
    opensm.wait_for("SUBNET UP", since=mark)
    assert any("Trap 128" in line or "num:128" in line or "trap 128" in line
               for line in opensm.output.splitlines()[mark:]), opensm.output
    after = way()
    assert after[1][0] != out_port
    assert [hop[1] for hop in after] == [hop[1] for hop in before]

    mark = opensm.mark()
    subnet.ibemu("link", f"0x{leaf}/{out_port}", "up")
    opensm.wait_for("SUBNET UP", since=mark)


def test_the_own_link_going_down_shows_in_sysfs_at_once(fabric):
    subnet = fabric(TREE)
    subnet.start_opensm("node-1")
    state = "/sys/class/infiniband/ibemu0/ports/1/state"
    assert subnet.run("node-5", "cat", state).stdout == "4: ACTIVE\n"
    subnet.ibemu("link", "node-5/1", "down")
    assert subnet.run("node-5", "cat", state).stdout == "1: DOWN\n"


def test_nodes_that_leave_and_join_are_noticed(fabric):
    subnet = fabric(TREE)
    opensm = subnet.start_opensm("node-1")
    for name, leaving in (("node-7", True), ("node-7", False)):
        mark = opensm.mark()
        subnet.ibemu("node", name, "down" if leaving else "up")
        opensm.wait_for("SUBNET UP", since=mark)
        text = subnet.run("node-1", "saquery", "NR").stdout
        assert ('"node-7"' in text or "node-7\n" in text) != leaving
