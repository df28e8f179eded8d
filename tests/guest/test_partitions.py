"""The interface of a further partition, of a guest's kernel and of a host of
ours: ib0.8001 at both ends."""

import re

import pytest

from harness import started_by
from mlx4_guest import load
from rdma_cm_ends import GUEST, HOST, LINES, MODULES, GuestEnd

pytestmark = pytest.mark.deep

MANAGER = 3
BLUE = """
Default=0x7fff, ipoib : ALL=full, ALL_SWITCHES=full ;
Blue=0x0001, ipoib : {}=full, {}=full ;
"""
INTERFACE = "/sys/class/net/ib0.8001"
COUNT = 3


def address(number):
    return f"100.65.0.{number}"


def port_guid(lab, number):
    text = lab.run(f"node-{number}", "ibstat").stdout
    return re.search(r"Port GUID: (0x[0-9a-f]+)", text)[1]


@pytest.fixture(scope="module")
def lab(shared_fabric):
    return shared_fabric("single-switch:hosts=3")


@pytest.fixture(scope="module")
def guest(lab, shared_plug, scratch):
    conf = scratch / "blue.conf"
    conf.write_text(BLUE.format(port_guid(lab, HOST), port_guid(lab, GUEST)))
    with shared_plug(lab, f"node-{GUEST}", modules=MODULES,
                     programs=["rping", "stdbuf"]) as booted:
        # The kernel complains of what asks before its drivers are all there.
        load(booted)
        lab.start_opensm(f"node-{MANAGER}", "-P", conf)
        end = GuestEnd(booted)
        end.bring_up()
        booted.say("echo 0x8001 > /sys/class/net/ib0/create_child")
        booted.until(f"[ -e {INTERFACE} ]")
        booted.say(f"ip addr add {address(GUEST)}/16 dev ib0.8001 &&"
                   " ip link set ib0.8001 up")
        booted.until(f"grep 1 {INTERFACE}/carrier")
        yield end


@pytest.fixture
def host(lab):
    """Starts a program on the host, in a network with the partition."""
    starts = started_by(lab.account)
    start = next(starts)
    network = [*lab.on(f"node-{HOST}")[:-1], "--net=8001", "--"]
    yield lambda *command: start(*network, *LINES, *command)
    next(starts, None)


def test_they_ping_each_other(guest, host):
    there = host("sh", "-c", f"ping -c {COUNT} -W 30 {address(GUEST)};"
                             "exec sleep 1000")
    there.wait_for(f" {COUNT} received")
    said = guest.run("ping", "-c", COUNT, "-W", 5, address(HOST))
    assert f"{COUNT} packets received" in said.output


def test_a_guest_connects_to_a_host(guest, host):
    server = host("rping", "-s", "-v", "-d", "-a", address(HOST))
    server.wait_for("rdma_listen")
    said = guest.run("rping", "-c", "-v", "-C", COUNT, "-a", address(HOST))
    assert said.output.count("ping data: rdma-ping-") == COUNT, said.output


def test_a_host_connects_to_a_guest(guest, host):
    server = guest.start("rping", "-s", "-v", "-d", "-a", address(GUEST))
    server.until("rdma_listen")
    client = host("rping", "-c", "-v", "-C", COUNT, "-a", address(GUEST))
    assert client.wait() == 0, client.output
    assert client.output.count("ping data: rdma-ping-") == COUNT


def test_the_same_is_read_of_both_interfaces(guest, host):
    files = "type pkey parent mode umcast dev_id dev_port mtu flags"
    listed = f"cd {INTERFACE} && cat {files}; echo end"
    ours = host("sh", "-c", listed)
    ours.wait_for("^end$")
    assert ours.output.split() == guest.guest.say(listed).split()
