"""Debian's unmodified mlx4 drivers in a guest, and the modelled ConnectX-3."""

import re

from mlx4_guest import (CLASS, DRIVER, FUNCTION, NETWORK, THIS_MACHINE,
                        complaints, connect, load, state)
from netdiscover import parse


def test_the_drivers_bind_unbind_and_bind_again(fabric, plug):
    lab = fabric("single-switch:hosts=2", sm="none")
    with plug(lab, "node-2") as guest:
        load(guest)
        assert guest.say(f"cat {CLASS}/fw_ver") == "2.42.5000"
        assert guest.say(f"cat {CLASS}/ports/1/pkeys/0") == "0xffff"
        assert guest.say(f"cat {CLASS}/hca_type") == "MT4099"
        guid = guest.say(f"cat {CLASS}/node_guid").replace(":", "")
        found = lab.run("node-1", "ibnetdiscover").stdout
        assert re.search(rf"^caguid=0x0*{guid.lstrip('0')}$", found, re.M)
        guest.say(f"echo {FUNCTION} > {DRIVER}/unbind")
        assert guest.say("ls /sys/class/infiniband") == ""
        guest.say(f"echo {FUNCTION} > {DRIVER}/bind")
        guest.until("[ -e /dev/infiniband/umad0 ]")
        assert guest.say(f"cat {CLASS}/fw_ver") == "2.42.5000"
        assert complaints(guest) == []


def test_directed_routes_reach_the_adapter_and_its_neighbour(fabric, plug):
    lab = fabric("single-switch:hosts=2", sm="none")
    with plug(lab, "node-2") as guest:
        load(guest)
        here = guest.say("smpquery -D nodeinfo 0")
        assert re.search(r"NodeType:\.+Channel Adapter", here)
        own = re.search(r"PortGuid:\.+(0x\w+)", here)[1]
        gid = guest.say(f"cat {CLASS}/ports/1/gids/0").replace(":", "")
        assert gid.endswith(own[2:])
        there = guest.say("smpquery -D nodeinfo 0,1")
        assert re.search(r"NodeType:\.+Switch", there)
        back = guest.say("smpquery -D nodeinfo 0,1,2")
        assert re.search(rf"PortGuid:\.+{own}", back)
        assert complaints(guest) == []


def test_a_subnet_manager_is_seen_as_long_as_issm_is_open(fabric, plug):
    lab = fabric("single-switch:hosts=2", sm="none")
    with plug(lab, "node-2") as guest:
        load(guest)
        ask = "smpquery -D portinfo 0 1"
        assert "IsSM" not in guest.say(ask)
        guest.say("sleep 1000 < /dev/infiniband/issm0 & echo $! > /tmp/pid")
        guest.until(f"{ask} | grep -w IsSM")
        assert "IsSM" in lab.run("node-1", "smpquery", "-D", "portinfo",
                                 "0,1,2", "1").stdout
        guest.say("kill $(cat /tmp/pid)")
        guest.until(f"! {ask} | grep -w IsSM")


def test_ibnetdiscover_finds_the_same_inside_and_outside(fabric, plug):
    lab = fabric("fat-tree:radix=8,levels=2", sm="none")
    with plug(lab, "node-2") as guest:
        load(guest)
        outside = parse(lab.run("node-1", "ibnetdiscover").stdout)
        assert len(outside[0]) == 44
        # More than once around QP0's queues of 512 and 1024 entries.
        for _ in range(4):
            inside = parse(guest.say("ibnetdiscover"))
            assert inside[1] == outside[1]
            assert inside[0].keys() == outside[0].keys()
        assert complaints(guest) == []


def test_events_go_around_their_queue(fabric, plug):
    """Each look at a port is a command, and its end an event; of 512."""
    lab = fabric("single-switch:hosts=2", sm="none")
    with plug(lab, "node-2") as guest:
        load(guest)
        guest.say(f"i=0; while [ $i -lt 1100 ]; do read now < {CLASS}/ports/1/"
                  "state; [ \"$now\" = '2: INIT' ] || exit; i=$((i + 1)); done")
        assert complaints(guest) == []
        words = guest.off()
    assert int(re.search(r"interrupts (\d+)", words)[1]) > 1100


def test_opensm_in_the_guest_configures_the_subnet(fabric, plug):
    lab = fabric("fat-tree:radix=4,levels=2", sm="none")
    with plug(lab, "node-2") as guest:
        load(guest)
        assert state(guest) == "INIT"
        guest.say("opensm --once --log_file /tmp/opensm.log")
        assert "SUBNET UP" in guest.say("cat /tmp/opensm.log")
        assert guest.until(f"grep ACTIVE {CLASS}/ports/1/state")
        lab.run("node-1", "cat", "/sys/class/infiniband/ibemu0/ports/1/state")
        outside = lab.run("node-1", "ibstat").stdout
        assert "State: Active" in outside
        lids = guest.say(f"cat {CLASS}/ports/1/sm_lid {CLASS}/ports/1/lid")
        assert len(set(lids.split())) == 1, "it is the subnet manager's port"
        assert complaints(guest) == []


def test_opensm_outside_configures_the_guest(fabric, plug):
    lab = fabric("fat-tree:radix=4,levels=2", sm="none")
    with plug(lab, "node-2") as guest:
        load(guest)
        lab.start_opensm("node-1")
        guest.until(f"grep ACTIVE {CLASS}/ports/1/state")
        lid = int(guest.say(f"cat {CLASS}/ports/1/lid"), 16)
        node = lab.run("node-1", "smpquery", "nodeinfo", str(lid)).stdout
        own = guest.say(f"cat {CLASS}/node_guid").replace(":", "")
        assert re.search(rf"^Guid:\.+0x{own}", node, re.MULTILINE)
        answer = guest.say("sminfo")
        assert re.search(r"SMINFO_MASTER", answer)
        assert complaints(guest) == []


def test_rc_pingpong_between_the_guest_and_a_software_host(fabric, plug):
    lab = fabric("single-switch:hosts=2", sm="builtin")
    server = lab.start("node-1", "stdbuf", "-oL", "ibv_rc_pingpong", "-n",
                       "1000", "-s", "4096", "-c")
    with plug(lab, "node-2", machine=NETWORK) as guest:
        load(guest)
        connect(guest)
        guest.until(f"grep ACTIVE {CLASS}/ports/1/state")
        server.wait_for("local address")
        client = guest.say("ibv_rc_pingpong -n 1000 -s 4096 -c "
                           + THIS_MACHINE)
        assert "1000 iters in" in client
        assert "invalid data" not in client
        assert server.wait() == 0, server.output
        assert "1000 iters in" in server.output
        assert complaints(guest) == []


def test_ipoib_between_two_guests(fabric, plug):
    lab = fabric("single-switch:hosts=3", sm="builtin")
    with plug(lab, "node-2", programs=[], seconds=120) as first, \
            plug(lab, "node-3", programs=[], seconds=120) as second:
        for number, guest in ((1, first), (2, second)):
            load(guest)
            guest.load("ib_ipoib")
            guest.until("[ -e /sys/class/net/ib0 ]")
            guest.say(f"ip addr add 192.168.7.{number}/24 dev ib0;"
                      " ip link set ib0 up")
        for guest in (first, second):
            guest.until("grep 1 /sys/class/net/ib0/carrier")
        first.until("ping -c 1 -W 1 192.168.7.2")
        said = first.say("ping -c 5 -s 1400 192.168.7.2")
        assert "5 packets received" in said
        said = second.say("ping -c 5 192.168.7.1")
        assert "5 packets received" in said
        assert complaints(first) == [] and complaints(second) == []
