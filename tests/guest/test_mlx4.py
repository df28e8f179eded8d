"""Debian's unmodified mlx4 drivers in a guest, and the modelled ConnectX-3."""

import re
import signal

import pytest

from guest import at_once, together
from mlx4_guest import (CLASS, DRIVER, FUNCTION, NETWORK, OPENSM, PROGRAMS,
                        THIS_MACHINE, connect, load)
from netdiscover import parse
from perftest import check, free_port, results
from pingpong import play, start_server

TREE = "fat-tree:radix=6,levels=2"  # 18 hosts, 9 switches


@pytest.fixture(scope="module")
def shared_guest(shared_fabric, shared_plug):
    """A fabric without a subnet manager, and the guest that is its node-2."""
    lab = shared_fabric("single-switch:hosts=2", sm="none")
    with shared_plug(lab, "node-2") as guest:
        load(guest)
        yield lab, guest


@pytest.fixture
def pair(shared_guest):
    shared_guest[1].renew()
    return shared_guest


@pytest.fixture(scope="module")
def shared_active_guest(shared_fabric, shared_plug):
    """The same with active ports, and a way to this machine's network."""
    lab = shared_fabric("single-switch:hosts=2", sm="builtin")
    with shared_plug(lab, "node-2", programs=[*PROGRAMS, "ib_write_lat"],
                     machine=NETWORK) as guest:
        load(guest)
        connect(guest)
        guest.until(f"grep ACTIVE {CLASS}/ports/1/state")
        yield lab, guest


@pytest.fixture
def active_pair(shared_active_guest):
    shared_active_guest[1].renew()
    return shared_active_guest


def test_the_drivers_bind_unbind_and_bind_again(pair):
    lab, guest = pair
    assert guest.say(f"cat {CLASS}/fw_ver") == "2.42.5000"
    assert guest.say(f"cat {CLASS}/ports/1/pkeys/0") == "0xffff"
    assert guest.say(f"cat {CLASS}/hca_type") == "MT4099"
    guid = guest.say(f"cat {CLASS}/node_guid").replace(":", "")
    found = lab.run("node-1", "ibnetdiscover").stdout
    assert re.search(rf"^caguid=0x0*{guid.lstrip('0')}$", found, re.M)
    guest.say(f"echo {FUNCTION} > {DRIVER}/unbind")
    assert guest.say("ls /sys/class/infiniband") == ""
    guest.say(f"echo {FUNCTION} > {DRIVER}/bind")
    guest.until("[ -e /dev/infiniband/umad0 ] &&"
                " [ -e /dev/infiniband/uverbs0 ]")
    assert guest.say(f"cat {CLASS}/fw_ver") == "2.42.5000"
    # Events, queues and the wire are as they were.
    guest.until(f"grep INIT {CLASS}/ports/1/state")
    assert re.search(r"NodeType:\.+Switch",
                     guest.say("smpquery -D nodeinfo 0,1"))
    assert re.search(rf"^caguid=0x0*{guid.lstrip('0')}$",
                     lab.run("node-1", "ibnetdiscover").stdout, re.M)


def test_directed_routes_reach_the_adapter_and_its_neighbour(pair):
    _, guest = pair
    here = guest.say("smpquery -D nodeinfo 0")
    assert re.search(r"NodeType:\.+Channel Adapter", here)
    own = re.search(r"PortGuid:\.+(0x\w+)", here)[1]
    gid = guest.say(f"cat {CLASS}/ports/1/gids/0").replace(":", "")
    assert gid.endswith(own[2:])
    there = guest.say("smpquery -D nodeinfo 0,1")
    assert re.search(r"NodeType:\.+Switch", there)
    back = guest.say("smpquery -D nodeinfo 0,1,2")
    assert re.search(rf"PortGuid:\.+{own}", back)


def test_a_subnet_manager_is_seen_as_long_as_issm_is_open(pair):
    lab, guest = pair
    ask = "smpquery -D portinfo 0 1"
    assert "IsSM" not in guest.say(ask)
    guest.say("sleep 1000 < /dev/infiniband/issm0 & echo $! > /tmp/pid")
    guest.until(f"{ask} | grep -w IsSM")
    assert "IsSM" in lab.run("node-1", "smpquery", "-D", "portinfo",
                             "0,1,2", "1").stdout
    guest.say("kill $(cat /tmp/pid)")
    guest.until(f"{ask} > /tmp/said && ! grep -w IsSM /tmp/said")
    assert "CapMask" in guest.say("cat /tmp/said")


def test_ibnetdiscover_finds_the_same_inside_and_outside(fabric, plug):
    lab = fabric("fat-tree:radix=8,levels=2", sm="none")
    with plug(lab, "node-2") as guest:
        load(guest)
        outside = parse(lab.run("node-1", "ibnetdiscover").stdout)
        assert len(outside[0]) == 44
        inside = parse(guest.say("ibnetdiscover"))
        assert inside[1] == outside[1]
        assert inside[0].keys() == outside[0].keys()


def assert_active(lab):
    """All ports of TREE, as node-1 sees them."""
    links = lab.run("node-1", "iblinkinfo", "-l").stdout.splitlines()
    ends = [line for line in links if "==" in line]
    assert len(ends) == 2 * (18 + 18), "a line each: of hosts, of switches"
    assert all("Active/  LinkUp" in line for line in ends)


def test_opensm_in_the_guest_configures_the_subnet(fabric, plug):
    lab = fabric(TREE, sm="none")
    with plug(lab, "node-2") as guest:
        load(guest)
        guest.until(f"grep INIT {CLASS}/ports/1/state")
        guest.say(f"{OPENSM} --log_file /tmp/opensm.log")
        assert "SUBNET UP" in guest.say("cat /tmp/opensm.log")
        assert guest.until(f"grep ACTIVE {CLASS}/ports/1/state")
        assert_active(lab)
        lids = guest.say(f"cat {CLASS}/ports/1/sm_lid {CLASS}/ports/1/lid")
        assert len(set(lids.split())) == 1, "it is the subnet manager's port"


def test_a_management_key_keeps_nothing_from_the_ports_own_driver(fabric, plug):
    lab = fabric("single-switch:hosts=2", sm="none")
    refused = "mlx4_core .*: command 0x24 failed: fw status = 0x30"
    with plug(lab, "node-2", provoked=[refused]) as guest:
        load(guest)
        guest.say("printf 'm_key 0x1234\\nm_key_protection_level 2\\n'"
                  " > /tmp/opensm.conf")
        guest.say(f"{OPENSM} --config /tmp/opensm.conf"
                  " --log_file /tmp/opensm.log")
        guest.until(f"grep ACTIVE {CLASS}/ports/1/state")
        assert guest.say(f"cat {CLASS}/ports/1/sm_lid") == "0x1"
        assert guest.say(f"cat {CLASS}/ports/1/pkeys/0") == "0xffff"
        assert "fw status" not in guest.say("dmesg")
        # Programs have to know it, and Linux says what it was refused.
        told = guest.run("smpquery -D portinfo 0 1", check=False)
        assert told.status != 0
        assert "send failed; Invalid argument" in told.output
        assert "port info query failed" in told.output
        assert "LinkState:.......................Active" in guest.say(
            "smpquery -D --m_key 0x1234 portinfo 0 1")


def test_the_driver_takes_an_adapter_up_again_that_has_failed(fabric, plug):
    """It looks at the error buffer every 5 seconds."""
    lab = fabric("single-switch:hosts=2", sm="none")
    told = [f"mlx4_core .*: {words}" for words in (
        "Internal error detected:", "  buf", "device is going to be reset",
        "device was reset successfully")]
    told.append("mlx4_ib_handle_catas_error")
    with plug(lab, "node-2", provoked=told) as guest:
        load(guest)
        look = "ls -i /dev/infiniband/umad0"
        before = guest.say(look)
        guest.signal_launcher(signal.SIGUSR1)
        guest.until("dmesg | grep 'Internal error detected'")
        guest.until(f'now=$({look}) && [ "$now" != "{before}" ]')
        guest.until(f"grep INIT {CLASS}/ports/1/state")
        there = guest.say("smpquery -D nodeinfo 0,1")
        assert re.search(r"NodeType:\.+Switch", there)


def test_opensm_outside_configures_the_guest(fabric, plug):
    lab = fabric(TREE, sm="none")
    with plug(lab, "node-2") as guest:
        load(guest)
        lab.start_opensm("node-1")
        guest.until(f"grep ACTIVE {CLASS}/ports/1/state")
        assert_active(lab)
        lid = int(guest.say(f"cat {CLASS}/ports/1/lid"), 16)
        node = lab.run("node-1", "smpquery", "nodeinfo", str(lid)).stdout
        own = guest.say(f"cat {CLASS}/node_guid").replace(":", "")
        assert re.search(rf"^Guid:\.+0x{own}", node, re.MULTILINE)
        answer = guest.say("sminfo")
        assert re.search(r"SMINFO_MASTER", answer)


@pytest.mark.parametrize("program", ["ibv_rc_pingpong", "ibv_uc_pingpong"])
def test_the_guest_plays_pingpong_with_a_software_host(active_pair, program):
    play(*active_pair, program, 1000, "-s", "4096", "-c")


def test_the_guest_and_a_software_host_write_into_each_other(active_pair):
    """Each waits for what the other writes, and nobody acknowledges it."""
    lab, guest = active_pair
    port = free_port()
    command = ["ib_write_lat", "-F", "-p", str(port), "-c", "UC", "-n", "200",
               "-s", "4096"]
    server = start_server(lab, "node-1", command, port)
    client = guest.say(" ".join([*command, THIS_MACHINE]))
    check(results(client), 200)
    assert server.wait() == 0, server.output


def test_ipoib_between_two_guests(fabric, plug):
    lab = fabric("single-switch:hosts=3", sm="builtin")
    with together(plug(lab, "node-2", programs=[]),
                  plug(lab, "node-3", programs=[])) as (first, second):
        addresses = {first: "192.168.7.1", second: "192.168.7.2"}

        def join(guest):
            load(guest)
            guest.load("ib_ipoib")
            # Before, the kernel would try to join, and wait longer each time.
            guest.until(f"grep ACTIVE {CLASS}/ports/1/state")
            guest.until("[ -e /sys/class/net/ib0 ]")
            guest.say(f"ip addr add {addresses[guest]}/24 dev ib0 &&"
                      " ip link set ib0 up")
            guest.until("grep 1 /sys/class/net/ib0/carrier")

        at_once(join, first, second)
        first.until(f"ping -c 1 -W 1 {addresses[second]}")
        said = first.say(f"ping -c 5 -i 0.2 -s 1400 {addresses[second]}")
        assert "5 packets received" in said
        said = second.say(f"ping -c 5 -i 0.2 {addresses[first]}")
        assert "5 packets received" in said
