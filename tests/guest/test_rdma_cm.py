"""Connections by address between a guest, whose kernel makes them, and a host
of ours: what Linux does is right."""

import pathlib
import re
import subprocess

import pytest

import cm_messages
from by_address import ended_well
from harness import Background, until
from rdma_cm_ends import MODULES, GuestEnd, HostEnd, meet
from this_machine import command

PROGRAMS = ["rping", "ucmatose", "udaddy", "mckey", "cmtime", "rstream",
            "stdbuf", "rdma"]
HERE = pathlib.Path(__file__).parent
SERVERS = ["guest", "host"]
RPING_PORT = 7174
COUNT = 5
FILE_HEADER = 24  # bytes of a capture without packets


class Ends:
    """Both, and the subnet."""

    def __init__(self, lab, guest):
        self.lab = lab
        self.guest, self.host = GuestEnd(guest), HostEnd(lab)
        self.guest.bring_up()

    def roles(self, server):
        """Who serves and who asks."""
        if server == "guest":
            return self.guest, self.host
        return self.host, self.guest


@pytest.fixture(scope="session")
def cm_events(scratch):
    """Our own program that tells what rdma_cm tells it."""
    target = scratch / "cm_events"
    subprocess.run([command("gcc"), "-Wall", "-Wextra", "-Werror", "-o", target,
                    HERE / "cm_events.c", "-lrdmacm", "-libverbs"], check=True)
    return str(target)


@pytest.fixture(scope="module")
def shared_ends(shared_fabric, shared_plug, cm_events):
    lab = shared_fabric("single-switch:hosts=2", sm="builtin")
    with shared_plug(lab, "node-2", modules=MODULES,
                     programs=[*PROGRAMS, cm_events]) as guest:
        made = Ends(lab, guest)
        # A host answers for its addresses as soon as a program has opened
        # rdma_cm there.
        awake = serve_rping(made.host, port=RPING_PORT + 1)
        yield made
        awake.kill()


@pytest.fixture
def ends(shared_ends):
    shared_ends.guest.guest.renew()
    return shared_ends


def serve_rping(end, *options, port=RPING_PORT):
    """Returns when it listens."""
    server = end.start("rping", "-s", "-v", "-d", "-p", port, *options)
    server.until("rdma_listen")
    return server


def ask_rping(end, server):
    """A client that goes on and on; returns when it is connected."""
    client = end.start("rping", "-c", "-v", "-d", "-a", server.ipv4)
    client.until("ping data: rdma-ping-3:")
    return client


def assert_pinged(server, client, count=COUNT):
    pings = re.findall(r"^ping data: rdma-ping-(\d+): ", client, re.M)
    served = re.findall(r"^server ping data: rdma-ping-(\d+): ", server, re.M)
    assert pings == served == [str(n) for n in range(count)]


def test_a_guest_pings_a_host(ends):
    said = ends.guest.run("ping", "-c", 3, "-W", 5, ends.host.ipv4)
    assert "3 packets received" in said.output
    said = ends.guest.run("ping", "-6", "-c", 3, "-W", 5, "-s", 1400,
                          ends.host.ipv6)
    assert "3 packets received" in said.output


@pytest.mark.parametrize("options, version", [
    pytest.param([], 4, id="ipv4"), pytest.param(["-V"], 6, id="ipv6"),
    pytest.param(["-V", "-S", 60000], 4, id="long", marks=pytest.mark.deep),
    pytest.param(["-q"], 4, id="own-queue-pair", marks=pytest.mark.deep)])
@pytest.mark.parametrize("server", SERVERS)
def test_they_ping_by_rdma(ends, server, options, version):
    serves, asks = ends.roles(server)
    address = serves.ipv4 if version == 4 else serves.ipv6
    listen = [] if version == 4 else ["-a", "::0"]
    served = serve_rping(serves, "-C", COUNT, *options, *listen)
    said = asks.run("rping", "-c", "-v", "-C", COUNT, "-a", address, *options)
    assert ended_well(["rping"], said.status, said.output), said.output
    assert_pinged(served.wait().output, said.output)


@pytest.mark.parametrize("server", SERVERS)
def test_where_nobody_listens_a_client_is_rejected(ends, server):
    serves, asks = ends.roles(server)
    said = asks.run("rping", "-c", "-a", serves.ipv4, "-p", 9)
    assert said.status != 0
    assert "cma event RDMA_CM_EVENT_REJECTED, error 8" in said.output


@pytest.mark.deep
@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("victim", ["server", "client"])
def test_an_end_hears_that_the_other_was_killed(ends, server, victim):
    serves, asks = ends.roles(server)
    programs = {"server": serve_rping(serves), "client": ask_rping(asks, serves)}
    programs.pop(victim).kill()
    left, = programs.values()
    assert "DISCONNECT EVENT" in left.wait().output


@pytest.mark.deep
def test_a_guest_hears_that_all_of_a_hosts_run_was_killed(ends):
    served = serve_rping(ends.host)
    client = ask_rping(ends.guest, ends.host)
    served.stop()
    assert "client DISCONNECT EVENT" in client.wait().output


def check_transfers(*told):
    for said in told:
        assert said.status == 0, said.output
        assert "data transfers complete" in said.output
        assert "return status 0" in said.output


@pytest.mark.deep
@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("options", [["-c", 10, "-C", 10], ["-P", "ib"], ["-m"]],
                         ids=["ten", "ib", "migrated"])
def test_ucmatose_connects_and_sends(ends, server, options):
    serves, asks = ends.roles(server)
    command = ["ucmatose", *options]
    served, said = meet(serves, asks, command, [*command, "-s", serves.ipv4])
    check_transfers(served.wait(), said)


@pytest.mark.deep
@pytest.mark.parametrize("server", SERVERS)
def test_ucmatose_connects_by_gid(ends, server):
    serves, asks = ends.roles(server)
    command = ["ucmatose", "-f", "gid", "-P", "ib"]
    # It says where from: a kernel whose driver was loaded as its port became
    # active does not count that port as active for AF_IB.
    served, said = meet(serves, asks, [*command, "-b", serves.gid()],
                        [*command, "-b", asks.gid(), "-s", serves.gid()],
                        by_ip=False)
    check_transfers(served.wait(), said)


@pytest.mark.deep
@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("options", [[], ["-p", 2]], ids=["udp", "ipoib"])
def test_udaddy_resolves_datagrams(ends, server, options):
    serves, asks = ends.roles(server)
    command = ["udaddy", *options]
    served, said = meet(serves, asks, command, [*command, "-s", serves.ipv4])
    check_transfers(served.wait(), said)


@pytest.mark.deep
@pytest.mark.parametrize("receiver", SERVERS)
@pytest.mark.parametrize("options, sends, dgid", [
    ([], [], "ff12:4001:ffff::1:101"), ([], ["-o"], "ff12:4001:ffff::1:101"),
    (["-p", 2], [], "ff12:401b:ffff::1:101")],
    ids=["udp", "send-only", "ipoib"])
def test_mckey_joins_and_sends(ends, receiver, options, sends, dgid):
    receives, asks = ends.roles(receiver)
    group = ["mckey", "-m", "224.1.1.1", *options]
    member = receives.start(*group, "-b", receives.ipv4)
    member.until(f"joined dgid: {dgid} ")
    said = asks.run(*group, *sends, "-s", "-b", asks.ipv4)
    assert f"joined dgid: {dgid} " in said.output
    check_transfers(member.wait(), said)


@pytest.mark.deep
@pytest.mark.parametrize("server", SERVERS)
def test_cmtime_sets_up_many_connections_at_once(ends, server):
    serves, asks = ends.roles(server)
    command = ["cmtime", "-c", 40]
    served, said = meet(serves, asks, command, [*command, "-s", serves.ipv4])
    assert said.status == 0, said.output
    for step in "create id", "resolve addr", "connect", "disconnect", "destroy":
        assert re.search(rf"^{step} *: +[\d.]+ ", said.output, re.M), said.output
    served.kill()


@pytest.mark.deep
@pytest.mark.parametrize("server", SERVERS)
def test_streams_agree_by_private_data(ends, server):
    serves, asks = ends.roles(server)
    options = ["-I", 10, "-C", 2, "-S", 4096, "-T", "v"]
    command = ["rstream", *options]
    served, client = meet(serves, asks, command,
                          [*command, "-s", serves.ipv4])
    for said in (client, served.wait()):
        assert re.search(r"^custom +4k +2 +10 +160k +[\d.]+s ", said.output,
                         re.M)
        assert "data" not in said.output  # it would say where they differ


@pytest.mark.deep
@pytest.mark.parametrize("server", SERVERS)
def test_they_connect_over_a_link_that_loses_packets(ends, server):
    serves, asks = ends.roles(server)
    ends.lab.ibemu("fault", "add", "--name=lossy", "link",
                   f"{ends.guest.node}/1", "loss", "5%")
    try:
        served = serve_rping(serves, "-V", "-C", 10)
        said = asks.run("rping", "-c", "-v", "-V", "-C", 10, "-a", serves.ipv4)
        assert said.status == 0, said.output
        # Who ends sends one DREQ and does not repeat it, on Linux neither: where
        # it is lost the server goes on.
        served.until("server ping data: rdma-ping-9:")
        served.kill()
        assert_pinged(served.wait().output, said.output, 10)
    finally:
        ends.lab.ibemu("fault", "rm", "lossy")


def converse(serves, asks, cm_events, space, answer):
    """What cm_events is told at both ends."""
    serving = serves.start(serves.path(cm_events), "serve", space, 4711, answer)
    serving.until("listens")
    asked = asks.run(asks.path(cm_events), "call", space, serves.ipv4, 4711,
                     answer)
    return serving.wait(), asked


@pytest.mark.parametrize("space, answer", [
    ("tcp", "accept"), ("udp", "accept"),
    pytest.param("tcp", "hang-up", marks=pytest.mark.deep),
    pytest.param("tcp", "reject", marks=pytest.mark.deep),
    pytest.param("udp", "reject", marks=pytest.mark.deep)])
def test_programs_are_told_what_linux_tells(ends, cm_events, space, answer):
    """The same program at both ends, in both roles."""
    served, asked = {}, {}
    for server in SERVERS:
        serves, asks = ends.roles(server)
        served[serves.name], asked[asks.name] = converse(
            serves, asks, cm_events, space, answer)
    assert served["host"] == served["guest"]
    assert asked["host"] == asked["guest"]


# Fields of messages in which the ends differ for a good reason.  All else that
# Linux sends we have to send, too.
NAMES_OF_ENDS = {
    "infiniband.lrh.slid", "infiniband.lrh.dlid",
    # What each counts or chooses for itself.
    "infiniband.bth.psn", "infiniband.mad.transactionid",
    # Of all the bytes.
    "infiniband.variant.crc", "infiniband.invariant.crc",
    "infiniband.mad.data",
}
DIFFER = {
    "REQ": ["req", "req.localcaguid", "req.localqpn", "req.startpsn",
            "req.prim_locallid", "req.prim_remotelid", "req.prim_localgid",
            "req.prim_remotegid", "req.ip_cm.sport", "req.ip_cm.sip4",
            "req.ip_cm.dip4"],
    # The last one tells how fast an adapter acknowledges.
    "REP": ["rep", "rep.remotecommid", "rep.localcaguid", "rep.localqpn",
            "rep.startpsn", "rep.tgtackdelay"],
    "RTU": ["rtu.localcommid", "rtu.remotecommid"],
    "DREQ": ["dreq.localcommid", "dreq.remotecommid", "req.remoteqpneecn"],
    "DREP": ["drsp.localcommid", "drsp.remotecommid"],
    "REJ": ["rej.localcommid", "rej.remotecommid"],
}


@pytest.fixture(scope="module")
def messages(shared_ends, scratch, cm_events):
    """A capture of the same each way: the messages of the kernel and ours."""
    lab = shared_ends.lab
    file = scratch / "messages.pcap"
    capture = Background(lab.account, ["ibemu", "capture",
                                       f"--fabric={lab.socket}", "-w", file,
                                       f"{shared_ends.guest.node}/1"])
    until(lambda: file.exists() and file.stat().st_size >= FILE_HEADER)
    for server in SERVERS:
        serves, asks = shared_ends.roles(server)
        served = serve_rping(serves)
        asks.run("rping", "-c", "-C", 1, "-a", serves.ipv4)
        served.wait()
        for space, answer in ("udp", "accept"), ("tcp", "reject"):
            converse(serves, asks, cm_events, space, answer)
    capture.stop()
    return file


@pytest.mark.parametrize("kind", DIFFER)
def test_messages_differ_only_in_what_names_their_ends(messages, kind):
    first, second = cm_messages.read(messages, kind)
    expected = NAMES_OF_ENDS | {f"infiniband.cm.{name}" for name in DIFFER[kind]}
    assert cm_messages.differences(first, second, expected) == {}


# The number of the request; the port and the addresses in the header of IP.
@pytest.mark.parametrize("kind, own", [
    ("SIDR_REQ", [(0, 4), (18, 52)]), ("SIDR_REP", [(0, 4)])])
def test_service_resolutions_differ_only_in_their_ends(messages, kind, own):
    """tshark knows no fields of these: byte by byte."""
    first, second = map(cm_messages.data, cm_messages.read(messages, kind))
    for begin, end in own:
        first[begin:end] = second[begin:end] = bytes(end - begin)
    assert first == second
