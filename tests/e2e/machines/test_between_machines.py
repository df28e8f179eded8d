"""The same fabric when each daemon has a network namespace of its own, as a
machine has, and the network between them is a bad one."""

import collections
import contextlib
import json
import os
import re
import socket
import subprocess

import pytest

import mpi
import netdiscover
import perftest
from harness import (ROOT, Background, ListeningFabric, RunFabric, first, until,
                     with_environment)
from network import Network, begins_a_connection
from pairs import (connect_by_name, counts, exchange, joined, leases, numbered,
                   start_numbered, state)

TOPOLOGY = "fat-tree:radix=4,levels=2"
HOSTS = ["node-1", "node-2", "node-3", "node-4"]
HEAD = 0  # the machine; the hosts' follow
# For programs of perftest: 4 s for an acknowledgement, eight times.  What carries
# the packets is a program, and may have to wait for a processor.
SLOW = ["-u", "20"]

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


@pytest.fixture(scope="module")
def one_machine(module_account):
    """The same fabric where each host is the head's own."""
    made = RunFabric(module_account, "one-machine", TOPOLOGY)
    made.start_opensm("node-1")
    yield made
    made.stop()


def test_four_machines_have_one_subnet(lab):
    wanted = netdiscover.parse(
        lab.ibemu("export", "--format=ibnetdiscover").stdout)
    assert netdiscover.parse(lab.run("node-2", "ibnetdiscover").stdout) == wanted


@pytest.mark.parametrize("tool", first(2, [
    ["iblinkinfo"], ["saquery", "NR"], ["ibhosts"], ["ibswitches"], ["ibstat"],
    ["ibaddr"], ["saquery", "PIR"], ["dump_fts"], ["ibv_devinfo", "-v"],
    ["smpquery", "-D", "portinfo", "0,1"]]), ids=" ".join)
def test_tools_tell_of_four_machines_what_they_tell_of_one(lab, one_machine, tool):
    """Each host's port is up in both when its opensm has swept."""
    told = [[fabric.run(host, *tool).stdout for host in HOSTS[1:]]
            for fabric in (lab, one_machine)]
    assert all(told[0])
    assert told[0] == told[1]


def test_messages_go_between_any_two_of_four_machines(lab):
    assert "10000 bytes" in exchange(
        lab, "node-3", lab.on("node-4"), "ibv_rc_pingpong", "-c", "-n", "5", "-s",
        "1000")
    connect_by_name(lab, "node-2", lab.on("node-4"), count=3)


@pytest.mark.parametrize("program", first(1, [
    "ib_write_bw", "ib_send_lat", "ib_send_bw", "ib_read_bw", "ib_write_lat",
    "ib_read_lat", "ib_atomic_bw"]))
def test_perftest_measures_between_machines(lab, program):
    client, _ = perftest.play(lab, program, "-n", "100", *SLOW,
                              hosts=("node-2", "node-3"))
    perftest.check(client, iterations=100)


@pytest.mark.deep
def test_ucx_measures_between_machines(lab):
    command = [*perftest.LINES,
               *with_environment(UCX_TLS="rc_v,self", UCX_NET_DEVICES="ibemu0:1"),
               *perftest.ucx_perftest(), "-p", perftest.free_port()]
    server = lab.start("node-2", *command)
    server.wait_for("Waiting for connection")
    before = lab.sent_bytes("node-4")
    told = lab.run("node-4", *command, "127.0.0.1", "-t", "tag_bw", "-s", 10000,
                   "-n", 200, "-w", 10).stdout
    assert re.search("Final: +200 ", told)
    assert server.wait() == 0, server.output
    assert lab.sent_bytes("node-4") - before > 200 * 10000


def bytes_through_spines(lab):
    """What all ports of the switches have received that have no hosts."""
    spines = [node for node in json.loads(lab.ibemu("nodes", "--json").stdout)
              if node["description"].startswith("spine-")]
    told = [lab.run("node-2", "perfquery", "-x", "-a",
                    spine["ports"][0]["lid"]).stdout for spine in spines]
    return sum(4 * int(re.search(r"PortRcvData:\.*(\d+)", text)[1])
               for text in told)


def test_switches_count_what_two_daemons_send_each_other(lab):
    """20 MB, from leaf to leaf: by leases, which no switch is asked for."""
    def talk():
        exchange(lab, "node-1", lab.on("node-3"), "ib_send_lat", "-F", *SLOW, "-n",
                 "100", "-s", "100000")

    talk()
    until(lambda: leases(lab, "node-1") > 0)
    before = bytes_through_spines(lab)
    sent = -sum(map(lab.sent_bytes, ("node-1", "node-3")))
    talk()
    sent += sum(map(lab.sent_bytes, ("node-1", "node-3")))
    assert sent > 20_000_000
    until(lambda: bytes_through_spines(lab) - before >= sent)
    # Beside it are the questions for the counters alone.
    assert bytes_through_spines(lab) - before < 1.05 * sent


@pytest.fixture(scope="module")
def sums(scratch):
    made = scratch / "sums"
    subprocess.run(["mpicc.openmpi", "-O1", "-Wall", "-o", made,
                    ROOT / "tests/e2e/applications/mpi_sums.c"], check=True)
    return made


@pytest.mark.deep
def test_eight_ranks_of_open_mpi_are_on_four_machines(lab, sums):
    before = [lab.sent_bytes(host) for host in HOSTS]
    told = lab.run("node-1", *mpi.open_mpi(lab, HOSTS, sums, 3, ranks=2)).stdout
    assert sorted(re.findall(r"rank (\d): right", told)) == [
        str(rank) for rank in range(8)], told
    # Each host has sent some of the three vectors of 128 KiB.
    for host, was in zip(HOSTS, before):
        assert lab.sent_bytes(host) - was > 100_000


def test_a_machine_is_enough_to_join_it(module_account, network):
    """Without a port, and without a host."""
    head, other = network.machines[:2]
    certificates = module_account.home / "short.certs"
    socket = module_account.home / "short.sock"
    module_account.run("ibemu", "certs", certificates, head.address, "other")
    joining = [f"--join={head.address}", f"--certs={certificates}/other"]
    on = other.inside(module_account)

    def nobody_has_joined():
        status = on.run("ibemu", "status", f"--fabric={socket}", "--json").stdout
        return json.loads(status)["joined"] == []

    with contextlib.ExitStack() as until_the_end:
        def start(account, *words):
            program = Background(account, words)
            until_the_end.callback(program.stop)
            return program

        start(head.inside(module_account), "ibemud", "single-switch:hosts=2",
              f"--listen={head.address}", f"--socket={socket}",
              f"--certs={certificates}/{head.address}").wait_for(
                  f"ready: .*for other machines at {head.address}:7471")
        assert on.run("ibemu", "run", *joining, "--", "hostname").stdout == (
            "node-1\n")
        until(nobody_has_joined)
        start(on, "ibemud", *joining, "--host=node-1",
              f"--socket={module_account.home}/short-1.sock").wait_for(
                  r"\bready\b")
        assert on.run("ibemu", "run", *joining, "--", "hostname").stdout == (
            "node-2\n")
    done = on.run("ibemu", "run", *joining, "--", "true", check=False)
    assert done.returncode == 125
    assert (f'"{head.address}" is no fabric here (' in done.stderr
            and f"{head.address}:7471: " in done.stderr)


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


def test_packets_have_a_connection_again_when_theirs_was_reset(module_account,
                                                               network):
    head, one = network.machines[HEAD], network.machines[HEAD + 1]
    begun = []  # the ports of connections from the head to the host's machine
    heard = collections.Counter()  # packets, by port

    def hear(packet):
        ends = [socket.inet_ntoa(packet[at:at + 4]) for at in (12, 16)]
        if ends == [head.address, one.address]:
            port = int.from_bytes(packet[20:22], "big")
            heard[port] += 1
            if begins_a_connection(packet):
                begun.append(port)

    network.heard = hear
    # All packets go by the head, so there are no connections of leases.
    lab = MachinesFabric(module_account, "reset", network, sm="builtin",
                         options=["--exact"])
    try:
        for host in "node-1", "node-2":
            lab.drive(host)
            until(lambda host=host: joined(lab, host)["packet_connection"])
        for _ in range(2):
            old = begun[-1]
            network.reset = {old}
            connect_by_name(lab, "node-1", lab.on("node-2"), count=10)
            until(lambda: begun[-1] != old)
            network.reset = set()
            until(lambda: joined(lab, "node-1")["packet_connection"])
            before = heard[begun[-1]]
            connect_by_name(lab, "node-1", lab.on("node-2"), count=10)
            assert heard[begun[-1]] >= before + 10
        assert state(lab, "node-1") == "ACTIVE"
    finally:
        network.reset, network.heard = set(), lambda packet: None
        lab.stop()


@pytest.mark.deep
def test_packets_have_a_connection_again_after_a_minute_without_a_way(
        module_account, network, lab):
    """Their connection alone has none: node links, also the other subnet's, go
    on."""
    made = MachinesFabric(module_account, "without", network, sm="builtin",
                          options=["--exact"])
    try:
        for host in "node-1", "node-2":
            made.drive(host)
            until(lambda host=host: joined(made, host)["packet_connection"])
        network.only = {made.port, lab.port}
        # What is on its way has to be sent again, by the node link.
        until(lambda: not joined(made, "node-1")["packet_connection"], timeout=200)
        connect_by_name(made, "node-1", made.on("node-2"), count=10)
        network.only = set()
        until(lambda: joined(made, "node-1")["packet_connection"], timeout=200)
        connect_by_name(made, "node-1", made.on("node-2"), count=10)
        assert joined(made, "node-1")["packet_connection"]
    finally:
        network.only = set()
        made.stop()


@contextlib.contextmanager
def bad(network, **troubles):
    for name, value in troubles.items():
        setattr(network, name, value)
    try:
        yield
    finally:
        network.be_good()


PATIENT = 20  # 4 s for an acknowledgement, eight times: TCP takes its time
BAD = {"loses and delays packets": {"loss": 0.01, "delay": 0.05},
       "lets packets overtake others": {"delay": 0.005, "overtaken": 0.2}}


def check_all_arrived(ends, count):
    """Of what two programs sent each other, and what the server says last."""
    server, client = map(counts, ends)
    assert [server["failure"], client["failure"]] == ["", ""]
    assert (client["sent"], server["received"]) == (count, count)
    assert client["received"] == count + 1


@pytest.mark.parametrize("trouble", first(1, BAD.values()), ids=BAD)
def test_each_message_arrives_once_over_a_network_that(lab, scratch, trouble):
    with bad(lab.network, **trouble):
        check_all_arrived(start_numbered(lab, numbered(scratch), "node-2", "node-3",
                                         300, PATIENT), 300)


@pytest.mark.deep
def test_datagrams_come_with_what_they_had_over_a_bad_network(lab):
    with bad(lab.network, loss=0.01, delay=0.02):
        assert "20000 bytes" in exchange(
            lab, "node-1", lab.on("node-4"), "ibv_ud_pingpong", "-c", "-n", "10",
            "-s", "1000")


@pytest.mark.deep
def test_each_message_arrives_once_although_a_machine_was_cut_off_for_ten_seconds(
        lab, scratch):
    """Its link is down for a while, and leases are given anew."""
    with bad(lab.network, delay=0.05):
        ends = start_numbered(lab, numbered(scratch), "node-2", "node-3", 1000,
                              PATIENT)
        until(lambda: leases(lab, "node-3") == 1)
        driver = lab.drivers[("node-3",)]
        mark = driver.mark()
        lab.network.cut_off(lab.machine("node-3"), seconds=10)
        driver.wait_for("node-3: the ports are down", since=mark)
        assert [end.process.poll() for end in ends] == [None, None]
        driver.wait_for("a daemon has its fabric again", since=mark)
        check_all_arrived(ends, 1000)

    def has_a_lease_again():
        connect_by_name(lab, "node-2", lab.on("node-3"), count=10)
        return leases(lab, "node-3") == 1

    until(has_a_lease_again)


@pytest.mark.deep
def test_a_subnet_manager_that_was_cut_off_brings_the_subnet_up_again(
        module_account, network, lab):
    """Its own port answers it meanwhile, as one does that has no cable."""
    made = MachinesFabric(module_account, "manager", network)
    try:
        for host in HOSTS:
            made.drive(host)
        opensm = made.start_opensm("node-1")
        mark = opensm.mark()
        network.only = {lab.port}
        opensm.wait_for("SM port is down", since=mark)
        network.only = set()
        for host in HOSTS:
            until(lambda host=host: state(made, host) == "ACTIVE")
    finally:
        network.only = set()
        made.stop()


@pytest.mark.deep
def test_a_host_that_is_far_away_comes_back_when_it_was_cut_off(lab):
    """A round trip takes 0.8 s, and a new connection some of them."""
    with bad(lab.network, delay=0.4):
        driver = lab.drivers[("node-3",)]
        mark = driver.mark()
        lab.network.cut = {lab.machine("node-3")}
        driver.wait_for("node-3: the ports are down", since=mark)
        lab.network.cut = set()
        driver.wait_for("a daemon has its fabric again", since=mark)
    until(lambda: state(lab, "node-3") == "ACTIVE")


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
