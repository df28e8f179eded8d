"""Messages of ten thousand records, from opensm to saquery: on a good cable
without one packet too many, on a bad one without one byte too few."""

import math

import pytest

from harness import Fabric, deep

# The cheapest subnet with so many records: each cable is a LinkRecord of each
# of its ends, each port a PortInfoRecord.
SWITCHES, CABLES = 42, 120  # a ring; so many cables from one to the next
SM_HOST, CLIENT = "host-1", "host-2"

DATA = 200  # bytes of an SA segment
WINDOW = 64  # segments; the first one goes alone


def cable_ring():
    lines = []
    for switch in range(SWITCHES):
        after, before = (switch + 1) % SWITCHES, (switch - 1) % SWITCHES
        lines += [f"switchguid={0x1000 + switch:#x}",
                  f'Switch {2 * CABLES + 1} "S-{switch}" # "switch-{switch}"']
        for port in range(1, CABLES + 1):
            lines += [f'[{port}] "S-{after}"[{CABLES + port}]',
                      f'[{CABLES + port}] "S-{before}"[{port}]']
        lines += [f'[{2 * CABLES + 1}] "H-{switch + 1}"[1]'] * (switch < 2)
        lines += [""]
    for host in (1, 2):
        lines += [f"caguid={16 * host:#x}", f'Ca 1 "H-{host}" # "host-{host}"',
                  f'[1] "S-{host - 1}"[{2 * CABLES + 1}]', ""]
    return "\n".join(lines)


@pytest.fixture(scope="module")
def subnet(module_account):
    net = module_account.home / "ring.net"
    net.write_text(cable_ring())
    net.chmod(0o644)
    fabric = Fabric(module_account, "ring", net)
    # No sweep but the first: what crosses the client's link is the client's.
    fabric.opensm = fabric.start_opensm(SM_HOST, "-s", "0")
    yield fabric
    fabric.stop()


@pytest.fixture(scope="module")
def link_records(subnet):
    return ask(subnet, "LR")


def ask(subnet, record):
    # One message, so one timeout for all of it.
    return subnet.run(CLIENT, "saquery", "-t", "100000", record).stdout


@pytest.fixture
def cable(subnet):
    """Makes the client's cable a bad one; what it did is in the result of the
    second function."""
    def spoil(*words):
        subnet.ibemu("fault", "add", "link", f"{CLIENT}/1", *words)

    def told():
        fault, = subnet.faults()
        return fault

    yield spoil, told
    subnet.ibemu("fault", "reset")


def total(fault, what):
    return fault["tx"][what] + fault["rx"][what]


@pytest.mark.deep
@pytest.mark.parametrize("record, size", [("PIR", 72), ("LR", 8)])
def test_ten_thousand_records_take_no_packet_too_many(subnet, record, size):
    script = f"""
        cd /sys/class/infiniband/ibemu0/ports/1/counters
        cat port_rcv_packets port_xmit_packets
        saquery -t 100000 {record}
        cat port_rcv_packets port_xmit_packets"""
    text = subnet.run(CLIENT, "sh", "-c", script).stdout
    lines = text.splitlines()
    received, sent, received_then, sent_then = map(int, lines[:2] + lines[-2:])
    records = text.count("Record dump:")
    assert records > 10_000
    segments = math.ceil(records * size / DATA)
    assert received_then - received == segments
    # The query; one ACK for the first segment and one for each window.
    assert sent_then - sent == 2 + math.ceil((segments - 1) / WINDOW)
    assert " ERR " not in subnet.opensm.output


@pytest.mark.deep
def test_five_percent_loss_both_ways_costs_nothing_but_time(
        subnet, link_records, cable):
    spoil, told = cable
    # saquery tries once: with this seed its query is not among the lost.
    spoil("loss", "5%", "seed", "3")
    assert ask(subnet, "LR") == link_records
    fault = told()
    assert fault["tx"]["lost"] > 0 and fault["rx"]["lost"] > 0


@pytest.mark.parametrize("faults", [
    ["duplicate", "5%", "reorder", "5%", "delay", "20us", "10us"],
    *deep((["duplicate", "5%"],), (["reorder", "5%"],))])
def test_duplicates_and_disorder_change_nothing(subnet, link_records, cable,
                                                faults):
    spoil, told = cable
    spoil(*faults, "seed", "1")
    assert ask(subnet, "LR") == link_records
    for word, count in (("duplicate", "duplicated"), ("reorder", "reordered")):
        assert (total(told(), count) > 0) == (word in faults)


@pytest.mark.parametrize("which, seed", [("first", 19), ("last", 5)])
def test_one_ack_may_be_lost(subnet, cable, which, seed):
    whole = ask(subnet, "NR")
    spoil, told = cable
    # What leaves: the query, the ACK of the first segment, that of the last.
    # The seeds choose which of them is lost.
    spoil("loss", "50%", "dir", "tx", "seed", seed)
    assert ask(subnet, "NR") == whole
    assert told()["tx"]["lost"] == 1
    # The answer that opensm repeats in vain is in nobody's way.
    assert subnet.run(SM_HOST, "saquery", "NR").stdout == whole
    assert told()["tx"]["packets"] == {"first": 4, "last": 3}[which]
