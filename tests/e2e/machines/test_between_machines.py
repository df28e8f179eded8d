"""The same fabric when each daemon has a network namespace of its own, as a
machine has, and the network between them is a bad one."""

import json
import os
import socket

import pytest

import netdiscover
from harness import ListeningFabric, until
from network import Network
from pairs import connect_by_name, exchange, joined, leases, state

TOPOLOGY = "fat-tree:radix=4,levels=2"
HOSTS = ["node-1", "node-2", "node-3", "node-4"]
HEAD = 0  # the machine; the hosts' follow

pytestmark = pytest.mark.skipif(os.geteuid() != 0,
                                reason="network namespaces need root")


class MachinesFabric(ListeningFabric):
    """The head is a machine, and so is each of HOSTS."""

    def __init__(self, account, name, network, **options):
        self.network, self.everywhere = network, account
        self.own_address = self.called = network.machines[HEAD].address
        super().__init__(network.machines[HEAD].inside(account), name, TOPOLOGY,
                         **options)

    def machine(self, host):
        return self.network.machines[HOSTS.index(host) + 1]

    def drive(self, *hosts, options=()):
        head, self.account = self.account, self.machine(hosts[0]).inside(
            self.everywhere)
        try:
            return super().drive(*hosts, options=options)
        finally:
            self.account = head


@pytest.fixture(scope="module")
def network():
    with Network(len(HOSTS) + 1) as made:
        yield made


@pytest.fixture(scope="module")
def lab(module_account, network):
    made = MachinesFabric(module_account, "machines", network)
    for host in HOSTS:
        made.drive(host)
    made.start_opensm("node-1")
    yield made
    made.stop()


def test_four_machines_have_one_subnet(lab):
    wanted = netdiscover.parse(
        lab.ibemu("export", "--format=ibnetdiscover").stdout)
    assert netdiscover.parse(lab.run("node-2", "ibnetdiscover").stdout) == wanted
    assert "10000 bytes" in exchange(
        lab, "node-3", lab.on("node-4"), "ibv_rc_pingpong", "-c", "-n", "5", "-s",
        "1000")
    connect_by_name(lab, "node-2", lab.on("node-4"), count=3)


@pytest.mark.parametrize("encrypt", [[], ["--encrypt"]], ids=["clear", "encrypted"])
@pytest.mark.parametrize("exact", [
    pytest.param([], id="directly"),
    pytest.param(["--exact"], id="by the head", marks=pytest.mark.deep)])
def test_packets_can_be_read_unless_the_head_wants_them_encrypted(
        module_account, network, exact, encrypt):
    one, other = (network.machines[HOSTS.index(host) + 1]
                  for host in ("node-1", "node-2"))
    between = {one.address,
               (network.machines[HEAD] if exact else other).address}
    read = []

    def hear(packet):
        ends = {socket.inet_ntoa(packet[at:at + 4]) for at in (12, 16)}
        if ends == between:
            read.append(b"rdma-ping-" in packet)

    lab = MachinesFabric(module_account, "private", network, sm="builtin",
                         options=[*exact, *encrypt])
    try:
        for host in "node-1", "node-2":
            lab.drive(host)
            until(lambda host=host: joined(lab, host)["packet_connection"])
        network.heard = hear
        connect_by_name(lab, "node-1", lab.on("node-2"), count=100)
        assert (joined(lab, "node-2")["leases"] == 0) == bool(exact)
    finally:
        network.heard = lambda packet: None
        lab.stop()
    # More went from machine to machine than begins and ends a connection.
    assert len(read) > 100
    assert any(read) == (not encrypt)


@pytest.mark.deep
def test_machines_that_nobody_can_connect_to_have_their_packets_all_the_same(
        module_account, network):
    network.closed = set(network.machines[HEAD + 1:])
    lab = MachinesFabric(module_account, "closed", network, sm="builtin")
    try:
        for host in "node-1", "node-2":
            lab.drive(host)
        for _ in range(3):
            connect_by_name(lab, "node-1", lab.on("node-2"), count=100)
        assert "by the node link" in lab.ibemu("status").stdout
        assert not joined(lab, "node-2")["packet_connection"]
    finally:
        network.closed = set()
        lab.stop()


def test_a_network_that_loses_and_delays_packets_loses_none_of_ours(lab):
    lab.network.loss, lab.network.delay = 0.01, 0.02
    # Acknowledged within 4 s: TCP waits longer than the 67 ms of pingpong.
    exchange(lab, "node-2", lab.on("node-3"), "ib_send_lat", "-F", "-u", "20",
             "-n", "10", "-s", "10000")
    assert "20000 bytes" in exchange(
        lab, "node-1", lab.on("node-4"), "ibv_ud_pingpong", "-c", "-n", "10", "-s",
        "1000")
    lab.network.loss = lab.network.delay = 0


@pytest.mark.deep
def test_machines_that_do_not_reach_each_other_talk_through_the_head(lab):
    # With a second for an acknowledgement, and seven tries.
    talk = ["ib_send_lat", "-F", "-u", "18", "-n", "1000", "-s", "1000"]
    exchange(lab, "node-1", lab.on("node-4"), *talk)
    until(lambda: leases(lab, "node-1") == 1)
    lab.network.apart = {lab.machine("node-1"), lab.machine("node-4")}
    exchange(lab, "node-1", lab.on("node-4"), *talk)
    until(lambda: leases(lab, "node-1") == 0)
    lab.network.apart = set()


def test_a_machine_that_is_cut_off_has_a_port_that_is_down_on_both_sides(lab):
    server = lab.start("node-2", "ibv_rc_pingpong", "-n", "1000000")
    until(lambda: lab.account.run("ss", "-Hltn", "sport = :18515").stdout)
    client = lab.start("node-3", "stdbuf", "-oL", "ibv_rc_pingpong", "-n",
                       "1000000", "localhost")
    client.wait_for("remote address")
    lab.network.cut = {lab.machine("node-3")}
    until(lambda: state(lab, "node-3") == "DOWN")
    until(lambda: "node-3" not in [
        host["node"] for host in
        json.loads(lab.ibemu("status", "--json").stdout)["joined"]])
    # Who waits for a message hears nothing of a cable that was pulled.
    client.stop()
    server.stop()
    lab.network.cut = set()
    until(lambda: state(lab, "node-3") == "ACTIVE")
    exchange(lab, "node-2", lab.on("node-3"), "ibv_rc_pingpong", "-n", "5")
