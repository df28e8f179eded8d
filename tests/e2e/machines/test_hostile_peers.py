"""Peers of a head that mean it harm: without a certificate, or with one.  Each is
refused or bounded, and two other machines' hosts go on."""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import queue
import random
import re
import resource
import signal
import socket
import ssl
import threading

import grpc
import pytest

from harness import Background, ListeningFabric, RunFabric, deep, until
from pairs import exchange, joined, leases, state
from peer import (DATA, DESCRIPTION, ENABLE, END_STREAM, HEADERS, IS_SM, PACKET,
                  PREFACE, REQUEST, SETTINGS, SUBNET, Between, HeldHost, Peer,
                  Recorder, attach, beginning_of_call, data, field, frame,
                  frames_from, message, serving, tls_to, whole_call)

SEED = 21
# Acknowledged within 4 s, which a busy machine may need.
TALK = ["ib_send_lat", "-F", "-u", "20", "-n", "200", "-s", "1000"]
SAID = PREFACE + frame(SETTINGS, 0, 0, b"")  # by who calls, at first
CANCELLED = grpc.StatusCode.CANCELLED
METHODS = ["DescribeHost", "ListHosts", "ListFreeHosts", "AttachHost"]


@pytest.fixture(scope="module")
def lab(module_account):
    """node-1 and node-2 are hosts of other machines."""
    made = ListeningFabric(module_account, "hostile", "single-switch:hosts=8",
                           sm="static")
    for host in ("node-1", "node-2"):
        made.drive(host)
    process = serving(made.daemon)
    yield made
    serves = serving(made.daemon)
    made.stop()
    # It did not die of all this, and was not made again.
    assert serves == process


@pytest.fixture
def peer(lab):
    with Peer(lab) as made:
        yield made


def joined_names(lab):
    return {host["node"] for host in
            json.loads(lab.ibemu("status", "--json").stdout)["joined"]}


def talk(lab):
    """Packets go from host to host, and MADs by the head."""
    exchange(lab, "node-1", lab.on("node-2"), *TALK)
    assert "node-2" in lab.run("node-1", "ibnetdiscover").stdout


@contextlib.contextmanager
def others_go_on(lab):
    """They do as long as the body takes, and after it."""
    over = threading.Event()

    def until_over():
        while not over.is_set():
            talk(lab)

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        talking = pool.submit(until_over)
        try:
            yield
        finally:
            over.set()
            talking.result()
    talk(lab)
    until(lambda: joined_names(lab) == {"node-1", "node-2"})


def count_said(lab, pattern):
    return len(re.findall(pattern, lab.daemon.output))


def heard_until_the_end(peer):
    """What comes until the other side hangs up, in whatever way."""
    heard = b""
    peer.settimeout(60)
    try:
        while some := peer.recv(65536):
            heard += some
    except TimeoutError:
        raise
    except OSError:
        pass
    return heard


# --- Without a certificate


@pytest.mark.parametrize("version", ["TLSv1_3", *deep("TLSv1_2")])
def test_who_shows_no_certificate_is_refused_before_anything_of_it_is_read(
        lab, version):
    def heard(context):
        context.maximum_version = ssl.TLSVersion[version]
        try:
            with tls_to(lab, context) as tls:
                tls.sendall(SAID)
                return tls.recv(1)
        except TimeoutError:
            raise
        except OSError:
            return b""

    refused = "a peer is refused: .*peer did not return a certificate"
    before = count_said(lab, refused)

    def is_told():  # at most once a second
        assert heard(ssl.create_default_context(
            cafile=lab.certificates / "pc7/ca.crt")) == b""
        return count_said(lab, refused) > before

    until(is_told)
    with tls_to(lab) as known:
        known.sendall(SAID)
        assert known.recv(1) != b""
    talk(lab)


# --- What was said once


@pytest.mark.deep
def test_what_a_peer_has_said_gives_nobody_a_host(lab, peer):
    with Recorder(lab.port) as between:
        lab.account.run("ibemu", "run", f"--join=localhost:{between.port}",
                        f"--certs={lab.certificates}/pc7", "--host=node-3", "--",
                        "true")
    until(lambda: joined_names(lab) == {"node-1", "node-2"})
    before = peer.ask(SUBNET + "ListFreeHosts", b"")
    assert len(before[0]) == 1
    refused = "a peer is refused: Handshake failed"
    told = count_said(lab, refused)

    def say_again(said):
        with socket.create_connection(("localhost", lab.port)) as again:
            with contextlib.suppress(ConnectionError):
                again.sendall(said)
            # Whoever listens, he has no key to understand the answer.
            heard_until_the_end(again)

    assert max(map(len, between.said)) > 2000  # with a certificate
    for said in between.said:
        say_again(said)
    until(lambda: count_said(lab, refused) > told or
          say_again(max(between.said, key=len)))
    assert joined_names(lab) == {"node-1", "node-2"}
    assert peer.ask(SUBNET + "ListFreeHosts", b"") == before


@contextlib.contextmanager
def recorded_host(lab, host):
    """A daemon that has joined with it.  Yields what has recorded all
    connections for packets to that daemon."""
    with Recorder() as packets:
        def change(method, said):
            port = re.search(rb"\x10.\x18(...)\x28\x01\x32\x10", said, re.DOTALL)
            if method != SUBNET + "AttachHost" or not port:
                return said
            # Of a port that the kernel chose, three bytes.
            packets.target = sum((byte & 127) << 7 * place
                                 for place, byte in enumerate(port[1]))
            return said.replace(field(3, packets.target), field(3, packets.port),
                                1)

        with Between(lab, change) as between:
            driver = Background(lab.account, [
                "ibemud", f"--join=localhost:{between.port}",
                f"--certs={lab.certificates}/pc7", f"--host={host}",
                f"--socket={lab.account.home}/{host}.recorded.sock"])
            try:
                driver.wait_for(r"\bready\b")
                until(lambda: joined(lab, host)["packet_connection"])
                driver.socket = f"{lab.account.home}/{host}.recorded.sock"
                lab.drivers[(host,)] = driver
                yield packets
            finally:
                lab.drivers.pop((host,), None)
                driver.stop()
    until(lambda: host not in joined_names(lab))


@pytest.mark.deep
@pytest.mark.parametrize("options", [[], ["--encrypt"]],
                         ids=["clear", "encrypted"])
def test_a_connection_of_packets_is_not_had_twice(account, options):
    lab = ListeningFabric(account, "twice", "single-switch:hosts=3", sm="static",
                          options=options)
    with contextlib.ExitStack() as until_the_end:
        until_the_end.callback(lab.stop)
        lab.drive("node-1")
        packets = until_the_end.enter_context(recorded_host(lab, "node-2"))
        exchange(lab, "node-1", lab.on("node-2"), *TALK)
        until(lambda: leases(lab, "node-1") == 1)
        assert len(packets.said) == 2  # of the head, and by the lease
        chance = random.Random(SEED)
        for said in (*map(bytes, packets.said), *(
                chance.randbytes(chance.randrange(1, 100)) for _ in range(50))):
            with socket.create_connection(("localhost", packets.target)) as again:
                with contextlib.suppress(OSError):  # it may hang up at once
                    again.sendall(said)
                    again.shutdown(socket.SHUT_WR)
                heard = heard_until_the_end(again)
                assert heard == b"" or options  # a part of a handshake
        exchange(lab, "node-1", lab.on("node-2"), *TALK)
        assert joined(lab, "node-2")["packet_connection"]
        assert leases(lab, "node-1") == 1
        assert len(packets.said) == 2


@pytest.mark.deep
def test_strangers_at_the_port_for_packets_keep_nobody_out(account):
    lab = ListeningFabric(account, "strangers", "single-switch:hosts=3",
                          sm="static")
    with contextlib.ExitStack() as until_the_end:
        until_the_end.callback(lab.stop)
        lab.drive("node-1")
        packets = until_the_end.enter_context(recorded_host(lab, "node-2"))
        strangers = [until_the_end.enter_context(socket.create_connection(
            ("localhost", packets.target))) for _ in range(400)]
        # 256 may wait: who came first goes first.
        assert heard_until_the_end(strangers[0]) == b""
        exchange(lab, "node-1", lab.on("node-2"), *TALK)
        until(lambda: leases(lab, "node-1") == 1)
        # Nobody else waits without end.
        for stranger in strangers:
            assert heard_until_the_end(stranger) == b""


# --- A host that a peer may not have


def test_a_host_that_a_peer_can_not_have_is_refused_by_name(lab, peer):
    version = peer.version()

    def refusal(node, more=b""):
        answers, code, details = peer.attach_host(attach(node, version, more))
        assert not answers
        return code, details

    code = grpc.StatusCode
    assert refusal("node-99") == (
        code.NOT_FOUND, 'no node "node-99": did you mean "node-1"?')
    assert refusal("node-1") == (
        code.ALREADY_EXISTS, '"node-1" has an adapter elsewhere already')
    own = Background(lab.account, [*RunFabric.on(lab, "node-4"), "sh", "-c",
                                   "echo is there; exec sleep 1000"])
    own.wait_for("is there")
    refused, why = refusal("node-4")
    assert refused == code.ALREADY_EXISTS
    assert '"node-4" is the host of an "ibemu run"' in why
    own.stop()
    switch = next(node["description"] for node in
                  json.loads(lab.ibemu("nodes", "--json").stdout)
                  if node["type"] == "switch")
    assert refusal(switch) == (
        code.FAILED_PRECONDITION, f'"{switch}" is no channel adapter')
    assert refusal("node-3" * 50) == (
        code.INVALID_ARGUMENT, "the name of a host has 256 bytes at most")
    assert refusal("node-3", field(6, b"a short token")) == (
        code.INVALID_ARGUMENT, "a token for packets has 16 bytes, and a port")
    assert peer.attach_host(data(b"x"))[1:] == (
        code.INVALID_ARGUMENT, "the first message names no host")
    assert peer.attach_host()[1:] == (code.CANCELLED, "no message came")
    assert joined_names(lab) == {"node-1", "node-2"}


def test_a_stream_that_names_a_second_host_loses_the_first(lab, peer):
    held = HeldHost(peer, "node-3")
    assert joined(lab, "node-3")["peer"] == "pc7 (127.0.0.1)"
    held.say(attach("node-4", peer.version()))
    assert held.code() == CANCELLED
    until(lambda: joined_names(lab) == {"node-1", "node-2"})


# --- Garbage of a peer that has a certificate


def garbage(chance):
    """Bytes, or a node link's message that is nearly right."""
    content = chance.randbytes(chance.choice([0, 1, 7, 8, 40, 300]))
    kind = chance.choice([PACKET, REQUEST, IS_SM, ENABLE, DESCRIPTION,
                          chance.randrange(256)])
    return chance.choice([content, message(kind, content), message(
        kind, content, chance.randrange(256)), message(kind, content)[:-1]])


@pytest.mark.parametrize("rounds", [5, *deep(300)])
def test_garbage_after_the_handshake_ends_its_own_call(lab, peer, rounds):
    chance = random.Random(SEED)
    version = peer.version()
    seen = {method: set() for method in METHODS}
    with others_go_on(lab):
        for _ in range(rounds):
            for method in METHODS:
                said = [chance.randbytes(chance.randrange(300))
                        for _ in range(chance.randrange(3))]
                seen[method].add(peer.ask(SUBNET + method, *said)[1])
        for _ in range(rounds):
            content = [data(garbage(chance)) for _ in range(chance.randrange(5))]
            # Whoever had a host just now may have it still, to the daemon.
            until(lambda content=content: peer.attach_host(
                attach("node-3", version), *content)[1] == CANCELLED)
    code = grpc.StatusCode
    # What is no message, and what is one by chance.
    assert seen.pop("AttachHost") <= {CANCELLED, code.INVALID_ARGUMENT}
    for codes in seen.values():
        assert code.INTERNAL in codes
        assert codes <= {code.INTERNAL, code.OK, code.NOT_FOUND}, codes
    assert peer.ask(SUBNET + "Nothing", b"")[1] == code.UNIMPLEMENTED
    # The same connection serves what makes sense.
    assert peer.ask(SUBNET + "ListFreeHosts", b"")[1] == code.OK


@pytest.mark.parametrize("sizes", [[1 << 17], *deep([1 << 22])],
                         ids=["128 KiB", "4 MiB"])
def test_a_message_that_is_too_long_ends_its_call(lab, peer, sizes):
    code = grpc.StatusCode
    for size in sizes:
        for method in METHODS:
            _, refused, why = peer.ask(SUBNET + method, bytes(size))
            assert refused == code.RESOURCE_EXHAUSTED
            assert "larger than max" in why
        with contextlib.closing(HeldHost(peer, "node-3")) as held:
            held.say(data(bytes(size)))
            assert held.code() == code.RESOURCE_EXHAUSTED
        until(lambda: "node-3" not in joined_names(lab))
    # Short enough for gRPC, and longer than a node link's.
    with contextlib.closing(HeldHost(peer, "node-3")) as held:
        held.say(data(bytes((1 << 16) + 1)))
        assert held.code() == code.CANCELLED
    until(lambda: joined_names(lab) == {"node-1", "node-2"})


@pytest.mark.deep
def test_frames_that_are_cut_or_spoilt_end_their_connection(lab, peer):
    chance = random.Random(SEED)
    version = peer.version()
    whole = b"".join([SAID, *[
        whole_call(2 * place + 1, SUBNET + method, said)
        for place, (method, said) in enumerate([
            ("DescribeHost", field(1, b"node-1")), ("ListFreeHosts", b""),
            ("AttachHost", attach("node-99", version))])]])
    with others_go_on(lab):
        for _ in range(200):
            end = chance.randrange(len(SAID), len(whole) + 1)
            said = bytearray(whole[:end])
            for _ in range(chance.choice([0, 1, 5])):
                said[chance.randrange(len(said))] = chance.randrange(256)
            # A message that is to have 4 GiB.
            said += chance.choice([b"", frame(DATA, 0, 1, b"\0\xff\xff\xff\xff")])
            with tls_to(lab) as tls:
                with contextlib.suppress(ConnectionError, ssl.SSLError):
                    tls.sendall(said)
                    tls.shutdown(socket.SHUT_WR)
                heard_until_the_end(tls)


# --- A peer that reads nothing

SENDER = """
import sys
import pyverbs.enums as e
from pyverbs.addr import AH, AHAttr
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, SendWR

SIZE, AT_ONCE = 4096, 50
context = Context(name="ibemu0")
pd, cq = PD(context), CQ(context, 100)
mr = MR(pd, SIZE, e.IBV_ACCESS_LOCAL_WRITE)
qp = QP(pd, QPInitAttr(qp_type=e.IBV_QPT_UD, scq=cq, rcq=cq,
                       cap=QPCap(max_send_wr=2 * AT_ONCE), sq_sig_all=1))
attr = QPAttr(port_num=1)
attr.qkey = 0x1234
qp.to_rts(attr)
target = AH(pd, attr=AHAttr(dlid=int(sys.argv[1]), port_num=1))
work = SendWR(num_sge=1, sg=[SGE(mr.buf, SIZE, mr.lkey)], opcode=e.IBV_WR_SEND)
work.set_wr_ud(target, 0x42, 0x1234)
for _ in range((int(sys.argv[2]) << 20) // SIZE // AT_ONCE):
    for _ in range(AT_ONCE):
        qp.post_send(work)
    done = 0
    while done < AT_ONCE:
        done += cq.poll(AT_ONCE)[0]
"""


def status_of(process):
    """What /proc says of it."""
    text = pathlib.Path(f"/proc/{process}/status").read_text()
    return {name: int(value) for name, value in
            re.findall(r"^(\w+):\s+(\d+)(?: kB)?$", text, re.MULTILINE)}


def descriptors_of(process):
    return len(os.listdir(f"/proc/{process}/fd"))


def port_of(lab, host):
    return next(node for node in json.loads(lab.ibemu("nodes", "--json").stdout)
                if node["description"] == host)["ports"][0]


# KiB.  What waits for a host has 4 MiB at most in the daemon, and may have as
# much room again; sockets and gRPC's windows have less.
SPARE = 24 << 10
SENT = 96  # MiB


@pytest.mark.deep
@pytest.mark.memory
def test_what_a_peer_does_not_read_is_lost(lab, peer):
    held = HeldHost(peer, "node-3", field(5, 1))
    held.say(data(message(ENABLE, b"\1")))
    until(lambda: port_of(lab, "node-3")["state"] == "active")
    lid = port_of(lab, "node-3")["lid"]
    sent = lab.sent_bytes("node-1")
    both = [lab.daemon.process.pid, serving(lab.daemon)]
    talk(lab)
    before = [status_of(process)["VmRSS"] for process in both]

    def all_is_sent():  # a part of it may not come as far as the head
        lab.run("node-1", "/usr/bin/python3", "-c", SENDER, lid, SENT // 4)
        return lab.sent_bytes("node-1") - sent > SENT << 20

    until(all_is_sent)
    talk(lab)
    for process, kilobytes in zip(both, before):
        assert status_of(process)["VmHWM"] < kilobytes + SPARE
    assert joined(lab, "node-3")["behind_seconds"] > 0
    # It is there as long as it says that it is, and hears what was kept.
    heard = len(next(held.call)) + len(next(held.call))
    assert 0 < heard
    held.close()
    until(lambda: joined_names(lab) == {"node-1", "node-2"})


# --- A flood


@pytest.fixture
def many_descriptors():
    """For what this process has open."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def join_for_a_moment(lab, machine="pc7"):
    return lab.account.run("ibemu", "run", *lab.joining(machine), "--host=any", "--",
                           "true", check=False)


# Threads and descriptors that come and go with what others do.
FEW = 20
# Of peers/peer_listener.h; each has two descriptors.
MOST_STRANGERS = 256


@pytest.mark.deep
@pytest.mark.parametrize("said", [b"", SAID, b"\x16\x03\x01\x02\x00\x01"],
                         ids=["nothing", "no handshake", "half a handshake"])
def test_a_flood_of_strangers_has_a_bounded_part_of_the_descriptors(
        lab, peer, many_descriptors, said):
    process = serving(lab.daemon)
    threads, descriptors = status_of(process)["Threads"], descriptors_of(process)
    with contextlib.ExitStack() as until_the_end, others_go_on(lab):
        # Whose connection is as young as theirs.
        held = until_the_end.enter_context(contextlib.closing(
            HeldHost(peer, "node-3")))
        flood = []
        for _ in range(3 * MOST_STRANGERS):
            flood.append(until_the_end.enter_context(socket.create_connection(
                ("localhost", lab.port))))
            with contextlib.suppress(ConnectionError):  # it may have ended
                flood[-1].sendall(said)
        # Who came first goes first.
        assert heard_until_the_end(flood[0]) == b""
        until(lambda: descriptors_of(process) <=
              descriptors + 2 * MOST_STRANGERS + FEW)
        assert status_of(process)["Threads"] <= threads + FEW
        assert join_for_a_moment(lab).returncode == 0
        assert "node-3" in joined_names(lab)
        held.close()
        for each in flood:
            heard_until_the_end(each)
        until(lambda: descriptors_of(process) <= descriptors + FEW)


def says_nothing(peer, method):
    """A call that waits for what it will say, in a thread."""
    return peer.call(method, iter(queue.SimpleQueue().get, None))


CONNECTIONS = 200


@pytest.mark.deep
def test_a_flood_of_one_peer_is_served_and_ends_with_it(lab, many_descriptors):
    process = serving(lab.daemon)
    threads, descriptors = status_of(process)["Threads"], descriptors_of(process)
    with contextlib.ExitStack() as until_the_end, others_go_on(lab):
        for _ in range(CONNECTIONS):
            one = until_the_end.enter_context(Peer(lab))
            assert one.attach_host(data(b"x"))[1] == (
                grpc.StatusCode.INVALID_ARGUMENT)
        # Some may be idle for so long that they have been closed.
        assert descriptors_of(process) <= descriptors + 2 * CONNECTIONS + FEW
        assert status_of(process)["Threads"] <= threads + FEW
        assert join_for_a_moment(lab).returncode == 0
        # Nobody has what he does not use, even if he goes on.
        until(lambda: descriptors_of(process) <= descriptors + FEW)
        assert one.attach_host(data(b"x"))[1] == (
            grpc.StatusCode.INVALID_ARGUMENT)


REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"


@pytest.mark.deep
@pytest.mark.parametrize("method", [SUBNET + "AttachHost", REFLECTION],
                         ids=["AttachHost", "reflection"])
def test_a_call_that_says_nothing_ends_after_ten_seconds(lab, peer, method):
    process = serving(lab.daemon)
    threads = status_of(process)["Threads"]
    calls = [says_nothing(peer, method) for _ in range(3 * FEW)]
    for call in calls:
        assert call.code() == grpc.StatusCode.DEADLINE_EXCEEDED
        assert call.details() == "the call has not begun, or not ended, within 10s"
    until(lambda: status_of(process)["Threads"] <= threads + FEW)
    # Whoever has a host may be silent for longer.
    assert joined_names(lab) == {"node-1", "node-2"}


# Of peers/waiting_calls.h; and KiB, what gRPC may have for all (peers/connection.cc).
MOST_WAITING = 256
OF_CALLS = 256 << 10


@pytest.mark.deep
@pytest.mark.memory
def test_calls_that_say_nothing_take_no_thread_of_other_peers(lab, peer):
    lab.account.run("ibemu", "certs", lab.certificates, "pc8")
    process = serving(lab.daemon)
    before = status_of(process)
    refused = 0
    with others_go_on(lab):
        with tls_to(lab) as tls:
            tls.sendall(SAID + b"".join(
                beginning_of_call(2 * call + 1, SUBNET + "AttachHost")
                for call in range(8192)))
            for kind, flags, _ in frames_from(tls):
                refused += bool(kind == HEADERS and flags & END_STREAM)
                if refused == 8192 - MOST_WAITING:
                    break
            assert refused == 8192 - MOST_WAITING
            # Who is refused has had one for a moment.
            until(lambda: status_of(process)["Threads"] <=
                  before["Threads"] + MOST_WAITING + FEW)
            assert status_of(process)["VmRSS"] <= before["VmRSS"] + OF_CALLS
            assert join_for_a_moment(lab, "pc8").returncode == 0
        until(lambda: status_of(process)["Threads"] <= before["Threads"] + FEW)
    assert join_for_a_moment(lab).returncode == 0


@pytest.mark.deep
def test_who_has_too_many_calls_that_say_nothing_is_told_so(lab, peer):
    why = "256 calls of pc7 have not said yet what they want: no more may wait"

    def is_told():  # unless it takes as long as they may wait
        with tls_to(lab) as tls:
            tls.sendall(SAID + b"".join(
                beginning_of_call(2 * call + 1, SUBNET + "AttachHost")
                for call in range(MOST_WAITING + 1)))
            assert any(kind == HEADERS and flags & END_STREAM
                       for kind, flags, _ in frames_from(tls))
            told = peer.attach_host(attach("node-99", 0))[1:]
            done = join_for_a_moment(lab)
        return (told == (grpc.StatusCode.RESOURCE_EXHAUSTED, why) and
                done.returncode == 125 and why in done.stderr)

    until(is_told)
    until(lambda: join_for_a_moment(lab).returncode == 0)


@pytest.fixture
def lab_of_few_descriptors(account, many_descriptors):
    """Its ibemu-peers may have four times the descriptors that it has now, and so
    many; it is the same at the end."""
    made = ListeningFabric(account, "descriptors", "single-switch:hosts=3",
                           sm="static")
    try:
        for host in ("node-1", "node-2"):
            made.drive(host)
        talk(made)
        process = serving(made.daemon)
        most = 4 * descriptors_of(process)
        account.run("prlimit", f"--pid={process}", f"--nofile={most}:{most}")
        yield made, most
        # It has not been made again.
        assert serving(made.daemon) == process
    finally:
        made.stop()


@pytest.mark.deep
def test_strangers_leave_descriptors_to_others(lab_of_few_descriptors):
    lab, most = lab_of_few_descriptors
    with contextlib.ExitStack() as until_the_end, others_go_on(lab):
        for _ in range(2):
            flood = [until_the_end.enter_context(socket.create_connection(
                ("localhost", lab.port))) for _ in range(most)]
            assert heard_until_the_end(flood[0]) == b""
            until(lambda: join_for_a_moment(lab).returncode == 0)


@pytest.mark.deep
def test_peers_leave_descriptors_to_who_is_joined(lab_of_few_descriptors):
    lab, most = lab_of_few_descriptors
    code = grpc.StatusCode
    with contextlib.ExitStack() as until_the_end, others_go_on(lab):
        served = []

        def is_full():
            while True:
                one = until_the_end.enter_context(Peer(lab))
                if one.attach_host(data(b"x"))[1] == code.UNAVAILABLE:
                    break
                # Its connection is in use from now on: a question of operators.
                watch = one.channel.unary_stream("/grpc.health.v1.Health/Watch")(
                    b"")
                until_the_end.callback(watch.cancel)
                served.append(next(watch))
            return join_for_a_moment(lab).returncode == 125

        until(is_full)
        assert len(served) > most // 4
        assert descriptors_of(serving(lab.daemon)) <= most - most // 8
        until_the_end.pop_all().close()
    until(lambda: join_for_a_moment(lab).returncode == 0)


# --- What operators know of gRPC


def test_the_head_says_that_it_serves_and_what(lab, peer):
    # A HealthCheckResponse with SERVING, of the whole and of the service.
    for service in (b"", b"ibemu.peers.v1.Subnet"):
        assert peer.ask("/grpc.health.v1.Health/Check", field(1, service)) == (
            [field(1, 1)], grpc.StatusCode.OK, "")
    # A ServerReflectionRequest with list_services, and with a symbol.
    for request, heard in [(field(7, b""), b"ibemu.peers.v1.Subnet"), (
            field(4, b"ibemu.peers.v1.Subnet"), b"peers/subnet.proto")]:
        [answer], code, _ = peer.ask(
            REFLECTION, request)
        assert code == grpc.StatusCode.OK
        assert heard in answer


def run_between(lab, between):
    return lab.account.run(
        "ibemu", "run", f"--join=localhost:{between.port}",
        f"--certs={lab.certificates}/pc7", "--host=node-3", "--", "true",
        check=False)


def test_machines_with_other_versions_of_the_node_link_are_told_both(lab, peer):
    version = peer.version()
    newer = [2, 7]  # the fields of the newest and the oldest version

    def change(method, said):
        if method == SUBNET + "AttachHost":
            for number in newer:
                said = said.replace(field(number, version),
                                    field(number, version + 1), 1)
        return said

    with Between(lab, change) as between:
        done = run_between(lab, between)
        assert done.returncode == 125
        assert (f"this ibemu speaks version {version} of the node link, the other "
                f"one {version + 1}: have the same on both machines" in done.stderr)
        newer.remove(7)  # a machine that speaks the older one, too
        assert run_between(lab, between).returncode == 0


@pytest.mark.deep
@pytest.mark.parametrize("method", ["DescribeHost", "AttachHost"])
def test_a_head_that_does_not_answer_is_given_up_in_five_seconds(lab, method):
    def change(asked, said):
        if asked == SUBNET + method:
            lab.daemon.signal(signal.SIGSTOP)
        return said

    with Between(lab, change) as between:
        try:
            done = run_between(lab, between)
        finally:
            lab.daemon.signal(signal.SIGCONT)
        assert done.returncode == 125
        assert (f"localhost:{between.port}: no answer in five seconds"
                in done.stderr)
    # Nobody has what was asked for in vain.
    until(lambda: joined_names(lab) == {"node-1", "node-2"})
    # The other two had no head either, for as long.
    for host in ("node-1", "node-2"):
        until(lambda host=host: state(lab, host) == "ACTIVE")
    talk(lab)
    assert lab.account.run("ibemu", "run", *lab.taking("node-3"), "--",
                           "true").returncode == 0


@pytest.mark.deep
def test_a_machine_that_hangs_is_gone(lab):
    driver = lab.drive("node-3")
    until(lambda: state(lab, "node-3") == "ACTIVE")
    os.kill(serving(driver), signal.SIGSTOP)
    until(lambda: joined_names(lab) == {"node-1", "node-2"})
    talk(lab)
    os.kill(serving(driver), signal.SIGCONT)
    until(lambda: state(lab, "node-3") == "ACTIVE")
    driver.stop()
    del lab.drivers[("node-3",)]
    until(lambda: joined_names(lab) == {"node-1", "node-2"})
