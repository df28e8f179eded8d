"""Groups of partitions that opensm makes, with full and limited members: IP
over them, and datagrams to them."""

import json
import re

import pytest

from harness import Fabric, deep, started_by, until
from net import idle, run

TWO_SWITCHES = "fat-tree:radix=4,levels=2"

# The interface of a host is in the partition whose key comes first (indx0).
PARTITIONS = """
Default=0x7fff, ipoib : ALL=limited, SELF=full, ALL_SWITCHES=full ;
Blue=0x0001, indx0, ipoib : {5}=full, {6}=full, {7}=limited, {8}=limited ;
"""

# A partition's key, a full member and two limited ones.
MEMBERS = pytest.mark.parametrize("key, full, one, other", [
    pytest.param("8001", "node-5", "node-7", "node-8", id="blue"),
    pytest.param("ffff", "node-1", "node-2", "node-4", id="default",
                 marks=pytest.mark.deep)])


def address(host):
    return f"198.18.0.{host.removeprefix('node-')}"


def port_guid(lab, host):
    text = lab.run(host, "ibstat").stdout
    return re.search(r"Port GUID: (0x[0-9a-f]+)", text)[1]


@pytest.fixture(scope="module", params=["both", *deep("off", "in", "out")])
def enforced(request):
    """opensm's -Z: where the switches before hosts enforce partitions."""
    return request.param


@pytest.fixture(scope="module")
def lab(module_account, enforced):
    made = Fabric(module_account, f"groups-{enforced}", TWO_SWITCHES)
    conf = module_account.home / f"partitions-{enforced}.conf"
    conf.write_text(PARTITIONS.format(
        *[None, *[port_guid(made, f"node-{n}") for n in range(1, 9)]]))
    conf.chmod(0o644)
    made.start_opensm("node-1", "-P", conf, "-Z", enforced)
    yield made
    made.stop()


@pytest.fixture
def background(lab):
    """As elsewhere, by the account whose fabric it is."""
    yield from started_by(lab.account)


def ping(lab, host, to):
    """What ping says; unless somebody answers, it ends when ARP has given up,
    which takes three tries."""
    return run(lab, host, "ping", "-c", "1", "-W", "30", address(to),
               check=False).stdout


@MEMBERS
def test_a_limited_member_pings_full_ones_and_no_limited_ones(
        lab, background, key, full, one, other):
    idle(lab, one, background)
    # Who asks by ARP asks everybody; who answers answers one.
    assert " 1 received" in ping(lab, full, one)
    told = ping(lab, other, one)
    assert " 0 received" in told and "Host Unreachable" in told
    server = idle(lab, full, background)
    assert " 1 received" in ping(lab, other, full)
    # Its key has the bit of full members, as on Linux.
    assert run(lab, other, "cat", "/sys/class/net/ib0/pkey").stdout \
        == f"0x{key}\n"
    server.stop()


def test_members_of_different_partitions_do_not_ping_each_other(
        lab, background):
    idle(lab, "node-1", background)
    assert "Host Unreachable" in ping(lab, "node-5", "node-1")


# Receive requests of a member: more than messages are sent.
ROOM = 1000


def group(host, *options):
    return ["stdbuf", "-oL", "mckey", "-m", "224.1.1.1", "-b", address(host),
            *options]


def heard(lab, host):
    """The messages that the one member of a host has got."""
    pairs = json.loads(lab.ibemu("qp", "ls", host, "--json").stdout)
    member, = [pair for pair in pairs if pair["pid"] is not None]
    return ROOM - member["receive"]["posted"]


def drops(lab, host):
    """The packets of other partitions that were dropped at the host's port,
    and before it at the port of the switch."""
    port = lab.run(host, "smpquery", "-D", "portinfo", "0", "1").stdout
    switch = lab.run(host, "smpquery", "-D", "nodeinfo", "0,1").stdout
    guid = re.search(r"^Guid:\.*(0x\w+)", switch, re.M)[1]
    number = re.search(r"^LocalPort:\.*(\d+)", switch, re.M)[1]
    counted = json.loads(lab.ibemu("counter", f"{guid}/{number}",
                                   "--json").stdout)
    return (int(re.search(r"^PkeyViolations:\.*(\d+)", port, re.M)[1]),
            counted["PortXmitConstraintErrors"])


@pytest.mark.deep
@MEMBERS
def test_a_group_hears_full_members_and_limited_ones_full_ones_only(
        lab, enforced, key, full, one, other):
    members = [lab.start(host, *group(host, "-C", ROOM))
               for host in (full, one, other)]
    for member in members:
        member.wait_for(f"joined dgid: ff12:4001:{key}::1:101 ")

    # opensm makes the routes after it has answered.
    def hear(sender, *receivers):
        before = {host: heard(lab, host) for host in receivers}

        def hears():
            lab.run(sender, *group(sender, "-s", "-C", "10"))
            return all(heard(lab, host) > before[host] for host in receivers)
        until(hears)

    hear(full, one, other)
    # Now there are routes between all, and what is not heard was dropped.
    silent = {host: heard(lab, host) for host in (one, other)}
    at_port, at_switch = drops(lab, one)
    hear(other, full)
    assert {host: heard(lab, host) for host in (one, other)} == silent
    new_at_port, new_at_switch = drops(lab, one)
    if enforced in ("out", "both"):
        assert new_at_port == at_port and new_at_switch >= at_switch + 10
    else:
        assert new_at_port >= at_port + 10 and new_at_switch == at_switch
    for member in members:
        member.stop()


def test_a_limited_members_own_packets_violate_nothing(lab, background):
    before = drops(lab, "node-3")
    idle(lab, "node-1", background)
    assert " 1 received" in ping(lab, "node-3", "node-1")
    assert drops(lab, "node-3") == before


def test_a_limited_member_connects_by_address_to_full_ones_only(lab):
    servers = []
    for host in "node-1", "node-2":
        servers.append(lab.start(host, "stdbuf", "-oL", "rping", "-s", "-v",
                                 "-d"))
        servers[-1].wait_for("rdma_listen")
    client = ["rping", "-c", "-v", "-C", "2", "-a"]
    told = lab.run("node-4", *client, address("node-1")).stdout
    assert told.count("ping data: rdma-ping-") == 2
    done = lab.run("node-4", *client, address("node-2"), check=False)
    assert done.returncode != 0
    assert "RDMA_CM_EVENT_ADDR_ERROR" in done.stdout + done.stderr
    for server in servers:
        server.stop()
