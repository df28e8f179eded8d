"""Debian's performance and congestion tools against the agents that every
simulated node has."""

import re

import pytest

HOST, OTHER, SWITCH = 1, 2, 4  # LIDs that --sm=static gives: hosts first
COUNTERS = "/sys/class/infiniband/ibemu0/ports/1/counters"

EVERYWHERE = {
    "--extended": "PortXmitData", "--xmtsl": "XmtDataSL15",
    "--rcvsl": "RcvDataSL0", "--xmtdisc": "PortInactiveDiscards",
    "--rcverr": "PortLocalPhysicalErrors",
    "--extended_speeds": "SyncHeaderErrorCounter",
    "--smplctl": "CounterWidth", "--oprcvcounters": "PortOpRcvPkts",
    "--flowctlcounters": "PortXmitFlowPkts",
    "--vloppackets": "PortVLOpPackets15", "--vlopdata": "PortVLOpData0",
    "--vlxmitflowctlerrors": "PortVLXmitFlowCtlUpdateErrors0",
    "--vlxmitcounters": "PortVLXmitWait0", "--rcvcc": "PortPktRcvFECN",
    "--slrcvfecn": "PortSLRcvFECN0", "--slrcvbecn": "PortSLRcvBECN0",
    "--xmitcc": "PortXmitTimeCong", "--vlxmittimecc": "PortVLXmitTimeCong0",
}


def value(text, name):
    found = re.search(rf"(?m)^{name}:\.*(\S+)$", text)
    assert found, text
    return int(found[1], 0)


def host_counters(subnet, *names):
    """What sysfs shows of node-1's own port."""
    files = [f"{COUNTERS}/{name}" for name in names]
    return [int(n) for n in subnet.run("node-1", "cat", *files).stdout.split()]


@pytest.fixture
def subnet(fabric):
    return fabric("single-switch:hosts=3", sm="static")


def test_perfquery_reads_every_kind_of_counter(subnet):
    asked = [(option, lid) for option in EVERYWHERE for lid in (OTHER, SWITCH)]
    end = "end of the answer\n"
    *texts, rest = subnet.run("node-1", "sh", "-ec", "".join(
        f"perfquery {option} {lid} 1\necho {end}" for option, lid in asked)
    ).stdout.split(end)
    assert rest == ""
    for (option, _), text in zip(asked, texts, strict=True):
        assert value(text, EVERYWHERE[option]) >= 0
    text = subnet.run("node-1", "perfquery", "--swportvlcong", SWITCH, 1).stdout
    assert value(text, "SWPortVLCongestion0") == 0
    done = subnet.run("node-1", "perfquery", "--swportvlcong", OTHER, 1,
                      check=False)
    assert done.returncode != 0  # an adapter has no such counter


def test_a_packet_counts_at_both_ends_of_a_link(subnet):
    def packets(lid, port):
        text = subnet.run("node-1", "perfquery", "-x", lid, port).stdout
        return value(text, "PortXmitPkts"), value(text, "PortRcvPkts")

    # The question has crossed the link, the answer has not yet.
    xmit, rcv = packets(OTHER, 1)
    switch_xmit, switch_rcv = packets(SWITCH, 2)
    assert switch_xmit == rcv
    assert switch_rcv == xmit + 1


def test_perfquery_clears_what_sysfs_shows(subnet):
    subnet.run("node-1", "ibnetdiscover")
    names = ("port_xmit_packets", "unicast_xmit_packets", "port_xmit_data")
    packets, unicast, data = host_counters(subnet, *names)
    assert packets > 0 and unicast > 0
    assert data == 72 * packets  # 288 bytes from LRH to ICRC, in units of 4

    subnet.run("node-1", "perfquery", "-R", HOST, 1)
    assert host_counters(subnet, *names) == [0, 0, 0]


def test_perfquery_clears_the_chosen_counters_only(subnet):
    subnet.ibemu("link", "node-2/1", "down")
    subnet.ibemu("link", "node-2/1", "up")
    text = subnet.run("node-1", "perfquery", SWITCH, 2).stdout
    assert value(text, "LinkDownedCounter") == 1
    subnet.run("node-1", "perfquery", "-R", SWITCH, 2, "0xf000")
    text = subnet.run("node-1", "perfquery", SWITCH, 2).stdout
    assert value(text, "LinkDownedCounter") == 1
    subnet.run("node-1", "perfquery", "-R", SWITCH, 2, "0x0fff")
    text = subnet.run("node-1", "perfquery", SWITCH, 2).stdout
    assert value(text, "LinkDownedCounter") == 0


def test_congestion_control_of_a_switch_keeps_what_is_set(subnet):
    for operation in ("CP", "CI", "CK", "CL", "SS", "SP", "TI"):
        subnet.run("node-1", "ibccquery", operation, SWITCH)
    assert subnet.run("node-1", "ibccquery", "CS", SWITCH,
                      check=False).returncode != 0

    subnet.run("node-1", "ibccconfig", "SS", SWITCH, "0x1F", "0x1FFFFFFFFF",
               "0x0", "0xF", "8", "0", "0:0", "1")
    text = subnet.run("node-1", "ibccquery", "SS", SWITCH).stdout
    assert value(text, "Control_Map") == 0x1f
    assert value(text, "Threshold") == 15
    subnet.run("node-1", "ibccconfig", "SP", SWITCH, 2, 1, 1, 5, 6, 7)
    text = subnet.run("node-1", "ibccquery", "SP", SWITCH, 2).stdout
    assert value(text, "Cong_Parm_Marking_Rate") == 7


def test_congestion_control_of_an_adapter_keeps_what_is_set(subnet):
    for operation in ("CP", "CI", "CK", "CL", "CS", "CT", "TI"):
        subnet.run("node-1", "ibccquery", operation, OTHER)
    subnet.run("node-1", "ibccconfig", "CS", OTHER, 0, "0x3", 150, 1, 0, 0)
    text = subnet.run("node-1", "ibccquery", "CS", OTHER).stdout
    assert value(text, "Control_Map") == 3
    assert len(re.findall(r"CCTI_Timer:\.*150\n", text)) == 2
    subnet.run("node-1", "ibccconfig", "CT", OTHER, 1, 0, "0:7", "1:8")
    text = subnet.run("node-1", "ibccquery", "CT", OTHER).stdout
    assert re.findall(r"CCT_Multiplier:\.*(\d+)", text) == ["7", "8"]


def test_a_congestion_key_keeps_strangers_out(subnet):
    subnet.run("node-1", "ibccconfig", "CK", OTHER, "0x77", 1, 0, 0)
    done = subnet.run("node-1", "ibccconfig", "-t", "50", "CS", OTHER, 0,
                      "0x1", 1, 1, 1, 1, check=False)
    assert done.returncode != 0
    text = subnet.run("node-1", "ibccquery", "CK", OTHER).stdout
    assert value(text, "CC_Key") == 0  # hidden
    assert value(text, "CC_KeyViolations") > 0
    text = subnet.run("node-1", "ibccquery", "-c", "0x77", "CK", OTHER).stdout
    assert value(text, "CC_Key") == 0x77
