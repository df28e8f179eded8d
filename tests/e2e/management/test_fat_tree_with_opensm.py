"""opensm on a fat tree of 54 switches and 648 hosts, and every diagnostic
program of Debian on the subnet that it made."""

import random
import re

import pytest

import netdiscover
from harness import Fabric, until

TOPOLOGY = "fat-tree:radix=36,levels=2"
SM_HOST, OTHER_HOST = "node-1", "node-648"


@pytest.fixture(scope="module")
def subnet(module_account):
    fabric = Fabric(module_account, "fat-tree", TOPOLOGY)
    fabric.opensm = fabric.start_opensm(SM_HOST)
    yield fabric
    fabric.stop()


@pytest.fixture(scope="module")
def discovered(subnet):
    return subnet.run(OTHER_HOST, "ibnetdiscover").stdout


def lids(discovered):
    """LIDs by node description, from ibnetdiscover's comments."""
    found = dict()
    for line in discovered.splitlines():
        if m := re.match(r'Switch\s.*# "([^"]*)".* lid (\d+) lmc', line):
            found[m[1]] = int(m[2])
        elif m := re.search(r'"H-\w+"\[\d+\]\(\w+\)\s+# "([^"]*)" lid (\d+)', line):
            found[m[1]] = int(m[2])
    return found


def test_opensm_reaches_subnet_up_without_an_error(subnet):
    errors = [line for line in subnet.opensm.output.splitlines()
              if " ERR " in line]
    assert errors == []


def test_health_says_when_opensm_swept(subnet):
    """A light sweep asks each switch at least."""
    def swept():
        said = subnet.ibemu("health", check=False).stdout
        return re.search(rf"subnet manager at {SM_HOST}/1, the master, swept "
                         r"\d+ s ago, in [\d.]+ s: (\d+) SMPs, \d+ of them Set",
                         said)
    assert int(until(swept)[1]) >= 54


def test_ibnetdiscover_reproduces_the_topology(subnet, discovered):
    wanted = subnet.account.run("ibemu", "topology", "generate", TOPOLOGY).stdout
    nodes, links = netdiscover.parse(discovered)
    assert (nodes, links) == netdiscover.parse(wanted)
    kinds = [kind for kind, _, _ in nodes.values()]
    assert kinds.count("Switch") == 54
    assert kinds.count("Ca") == 648


def test_iblinkinfo_sees_every_link_active(subnet):
    text = subnet.run(OTHER_HOST, "iblinkinfo", "-l").stdout
    lines = [line for line in text.splitlines() if "==(" in line]
    assert len(lines) == 54 * 36 + 648  # each link from both ends
    assert all("Active/  LinkUp" in line for line in lines)


def test_ibqueryerrors_finds_none(subnet):
    text = subnet.run(OTHER_HOST, "ibqueryerrors", "--details").stdout
    summary = re.search(r"(\d+) bad nodes found.*|Summary: (\d+) nodes checked, "
                        r"(\d+) bad nodes found", text)
    assert summary and summary[3] == "0", text[-2000:]
    assert re.search(r"Summary: 702 nodes checked", text)
    ports = re.search(r"(\d+) ports checked, (\d+) ports have errors", text)
    assert ports and ports[2] == "0", text[-2000:]


@pytest.mark.deep
def test_ibtracert_finds_a_way_between_fifty_random_pairs(subnet, discovered):
    lid = lids(discovered)
    hosts = sorted(name for name in lid if name.startswith("node-"))
    assert len(hosts) == 648
    chance = random.Random(1)
    pairs = [chance.sample(hosts, 2) for _ in range(50)]
    script = "\n".join(f"ibtracert {lid[a]} {lid[b]} || echo FAILED"
                       for a, b in pairs)
    text = subnet.run(OTHER_HOST, "sh", "-c", script).stdout
    traces = re.split(r"(?m)^From ca ", text)[1:]
    assert len(traces) == 50
    for (a, b), trace in zip(pairs, traces):
        assert f'"{a}"' in trace.splitlines()[0]
        assert re.search(rf'(?m)^To ca .*"{b}"', trace)
        hops = re.findall(r"(?m)^\[\d+\] -> (switch|ca) port", trace)
        assert hops in (["switch", "ca"], ["switch"] * 3 + ["ca"])


def test_ibroute_and_dump_lfts_agree(subnet, discovered):
    lid = lids(discovered)
    switch = min(lid[name] for name in lid if not name.startswith("node-"))
    route = subnet.run(OTHER_HOST, "ibroute", switch).stdout
    assert re.search(r"7\d\d valid lids dumped", route)
    dump = subnet.run(OTHER_HOST, "dump_lfts").stdout
    assert dump.count("Unicast lids") == 54

    def forwarding(text):
        return re.findall(r"(?m)^(0x\w{4}) (\d{3})", text)

    guid = re.search(r"guid (0x\w+)", route)[1]
    section = next(part for part in dump.split("Unicast lids")
                   if guid in part.partition("\n")[0])
    assert forwarding(section) == forwarding(route)


def test_dump_mfts_shows_the_trees_of_opensm(subnet):
    text = subnet.run(OTHER_HOST, "dump_mfts").stdout
    assert text.count("Multicast mlids") == 54


@pytest.mark.parametrize("operation, wanted", [
    (["nodeinfo", "1"], r"NodeType:\.+(Channel Adapter|Switch)"),
    (["nodedesc", "1"], r"Node Description:\.+\S"),
    (["portinfo", "1", "1"], r"LinkState:\.+Active"),
    (["pkeys", "1", "1"], r"0: 0xffff"),
    (["sl2vl", "1", "1"], r"\|"),
    (["vlarb", "1", "1"], r"VLArbitration|weight|WEIGHT"),
    (["guidinfo", "1"], r"0x[0-9a-f]{16}"),
])
def test_smpquery_reads(subnet, operation, wanted):
    text = subnet.run(OTHER_HOST, "smpquery", *operation).stdout
    assert re.search(wanted, text), text


def test_smpquery_reads_a_switch(subnet, discovered):
    lid = lids(discovered)
    switch = next(lid[name] for name in lid if not name.startswith("node-"))
    text = subnet.run(OTHER_HOST, "smpquery", "switchinfo", switch).stdout
    assert re.search(r"LinearFdbCap:\.+4915[12]", text)
    text = subnet.run(OTHER_HOST, "smpquery", "-D", "nodeinfo", "0,1").stdout
    assert re.search(r"NodeType:\.+Switch", text)


def test_sminfo_names_the_master(subnet):
    text = subnet.run(OTHER_HOST, "sminfo").stdout
    assert "SMINFO_MASTER" in text


def test_perfquery_counts_what_crosses(subnet):
    def packets():
        text = subnet.run(OTHER_HOST, "perfquery", "-x").stdout
        return int(re.search(r"PortXmitPkts:\.+(\d+)", text)[1])

    before = packets()
    subnet.run(OTHER_HOST, "ibnetdiscover")
    assert packets() > before + 700

    text = subnet.run(OTHER_HOST, "perfquery", "-R", "-x").stdout
    assert packets() < before
    assert text == "" or "counters" in text


def test_perfquery_reads_all_ports_of_a_switch(subnet, discovered):
    lid = lids(discovered)
    switch = next(lid[name] for name in lid if not name.startswith("node-"))
    text = subnet.run(OTHER_HOST, "perfquery", "-a", switch).stdout
    assert re.search(r"PortSelect:\.+255", text)
    text = subnet.run(OTHER_HOST, "perfquery", "-l", switch, "1-3").stdout
    assert len(re.findall(r"PortSelect:", text)) == 3


def test_ibportstate_disables_and_enables_a_far_port(subnet, discovered):
    lid = lids(discovered)
    # The switch port of node-600, seen from node-648: not on our own way.
    text = subnet.run(OTHER_HOST, "iblinkinfo", "-l").stdout
    switch, port = re.search(
        r'(?m)^0x\w+ "[^"]+"\s+(\d+)\s+(\d+)\[.*"node-600"', text).groups()

    def state():
        return subnet.run(OTHER_HOST, "ibportstate", switch, port, "query").stdout

    assert re.search(r"LinkState:\.+Active", state())
    mark = subnet.opensm.mark()
    subnet.run(OTHER_HOST, "ibportstate", switch, port, "disable")
    assert re.search(r"PhysLinkState:\.+Disabled", state())
    subnet.opensm.wait_for("SUBNET UP", since=mark)
    mark = subnet.opensm.mark()
    subnet.run(OTHER_HOST, "ibportstate", switch, port, "enable")
    subnet.opensm.wait_for("SUBNET UP", since=mark)
    assert re.search(r"PhysLinkState:\.+LinkUp", state())
    assert lid["node-600"]


def test_saquery_moves_all_node_records_by_rmpp(subnet):
    text = subnet.run(OTHER_HOST, "saquery", "NR").stdout
    assert text.count("NodeRecord dump") == 648 + 54


def test_saquery_moves_all_path_records_of_a_port_by_rmpp(subnet, discovered):
    lid = lids(discovered)[SM_HOST]
    text = subnet.run(OTHER_HOST, "saquery", "PR",
                      f"--slid={lid}").stdout
    assert text.count("PathRecord dump") == 648 + 54


@pytest.mark.parametrize("record", [
    "CPI", "PIR", "SL2VL", "PKTR", "VLAR", "LFTR", "GIR", "SWIR", "LR", "MCMR",
    "SMIR", "SR", "IIR", "MFTR"])
def test_saquery_reads_every_record_type(subnet, record):
    # opensm tells P_Keys only to those who know its SM_Key.
    done = subnet.run(OTHER_HOST, "saquery", "--smkey", "1", record)
    # Nobody made one: an empty table.
    empty = record in ("SR", "IIR", "MCMR", "MFTR")
    assert empty or re.search(r"dump|ClassPortInfo:", done.stdout), done.stdout


def test_ibping_crosses_the_fabric(subnet, discovered):
    lid = lids(discovered)
    server = subnet.start("node-300", "ibping", "-S")
    try:
        text = retry(lambda: subnet.run(
            "node-301", "ibping", "-c", "10", lid["node-300"], check=False).stdout,
            until=lambda text: " 0% packet loss" in text)
        assert "10 packets transmitted, 10 received, 0% packet loss" in text
    finally:
        server.stop()


def test_ibsysstat_crosses_the_fabric(subnet, discovered):
    lid = lids(discovered)
    server = subnet.start("node-302", "ibsysstat", "-S")
    try:
        text = retry(lambda: subnet.run(
            "node-303", "ibsysstat", lid["node-302"], check=False).stdout,
            until=lambda text: "sysstat ping succeeded" in text)
        assert "sysstat ping succeeded" in text
    finally:
        server.stop()


def retry(attempt, until, times=20):
    """The servers above say nothing when they are ready: ask until they
    answer; each attempt waits by itself."""
    for _ in range(times):
        result = attempt()
        if until(result):
            return result
    return result


# To a switch that it reaches by a second path it sends a question by it.  If that
# has no answer within 100 ms, it takes the switch for another of the same GUID.
@pytest.mark.deep
@pytest.mark.alone
def test_ibdiagnet_of_ibutils_finds_the_subnet_healthy(subnet):
    out = subnet.account.home / "ibdiagnet"
    text = retry(
        lambda: subnet.run(OTHER_HOST, "ibdiagnet", "-o", out, check=False,
                           timeout=600).stdout,
        lambda text: "with identical" not in text, times=3)
    assert "-E-" not in text, text[-3000:]
    assert re.search(r"Discovering \.\.\. 702 nodes", text), text[-3000:]


def test_ibdiagpath_of_ibutils_walks_a_path(subnet, discovered):
    lid = lids(discovered)
    out = subnet.account.home / "ibdiagpath"
    text = subnet.run(OTHER_HOST, "ibdiagpath", "-o", out, "-l",
                      lid["node-300"]).stdout
    assert "-E-" not in text
    assert re.search(r"-I- From: .*node-648/P1", text)


def test_ibccquery_reads_congestion_control(subnet, discovered):
    lid = lids(discovered)[SM_HOST]
    text = subnet.run(OTHER_HOST, "ibccquery", "CongestionInfo", lid).stdout
    assert re.search(r"CongestionInfo", text)
