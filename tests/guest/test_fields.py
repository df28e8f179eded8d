"""What Linux says of MADs and messages that came through the modelled adapter:
each field, by programs of our own (umad_fields.c, verbs_fields.c).

node-1 is a host of the software fabric, node-2 the guest's.  Ports have four
LIDs each, so that the bits of a path are seen, too.
"""

import os
import pathlib
import subprocess

import pytest

from mlx4_guest import CLASS, load
from this_machine import command

HERE = pathlib.Path(__file__).parent
SL, BITS = 3, 2
QP1 = 1
GET, RESPONSE = 1, 0x81
# Of a MAD: its bytes, and its header's that ib_umad puts before it.
HEADER, MAD = 64, 256
# enum ibv_wc_opcode and ibv_wc_status.
SEND, WRITE, RECEIVED, RECEIVED_WRITE = 0, 1, 128, 129
FLUSHED = 5
IMMEDIATE = 0xcafe0000  # and the message's number


@pytest.fixture(scope="session")
def program(scratch):
    def make(name):
        target = scratch / name
        if not target.exists():
            subprocess.run([command("gcc"), "-Wall", "-Wextra", "-Werror",
                            "-o", target, HERE / f"{name}.c", "-libumad",
                            "-libverbs"], check=True)
        return str(target)

    return make


class Pair:
    """The two ends, and their LIDs."""

    def __init__(self, lab, guest):
        self.lab, self.guest = lab, guest
        load(guest)
        lab.start_opensm("node-1", "--lmc", "2")
        guest.until(f"grep ACTIVE {CLASS}/ports/1/state")
        self.lid = int(guest.say(f"cat {CLASS}/ports/1/lid"), 16)
        self.peer = int(guest.say(f"cat {CLASS}/ports/1/sm_lid"), 16)
        assert self.lid % 4 == 0 and self.peer % 4 == 0
        assert self.lid != self.peer


@pytest.fixture(scope="module")
def shared_pair(shared_fabric, shared_plug, program):
    lab = shared_fabric("single-switch:hosts=2", sm="none")
    with shared_plug(lab, "node-2", programs=[
            program("umad_fields"), program("verbs_fields")]) as guest:
        yield Pair(lab, guest)


@pytest.fixture
def pair(shared_pair):
    shared_pair.guest.renew()
    return shared_pair


def behind(command):
    """In the background, and its parent stays: if it became the first process's
    child, its end would cost that what it has read of a line."""
    return f"({command}; sleep 1000) & true"


def fields(line):
    words = line.split()
    return dict(zip(words[::2], map(int, words[1::2])))


def header(**others):
    """Of an answer from QP1 with our service level, unless told otherwise."""
    return {"status": 0, "length": HEADER + MAD, "returned": MAD,
            "method": RESPONSE, "sl": SL, "qpn": QP1, "path_bits": 0,
            "pkey_index": 0, "grh": 0, "hop_limit": 0, **others}


def test_the_header_of_a_mad_says_how_it_came(pair, program):
    guest, peer = pair.guest, pair.peer

    def ask(*words):
        return fields(guest.say(" ".join(
            ["umad_fields ask", *map(str, words)])))

    performance, subnet, administration = 4, 1, 3
    assert ask(performance, peer, SL, 0) == header(lid=peer)
    # The simulated subnet has its own packets at service level 0.
    assert ask(subnet, peer, SL, 0) == header(lid=peer, qpn=0, sl=0)
    # The answer comes from the LID that was asked, to the one that asked.
    assert ask(performance, peer + 1, SL, BITS) == header(
        lid=peer + 1, path_bits=BITS)
    gid = pair.lab.run(
        "node-1", "cat",
        "/sys/class/infiniband/ibemu0/ports/1/gids/0").stdout.strip()
    # The answer to a request with a global route may go as far as any.
    assert ask(performance, peer, SL, 0, gid) == header(
        lid=peer, grh=1, hop_limit=255)
    # An answer of several MADs: two nodes' records and the switch's, of 112
    # bytes with what fills them up, behind one header of 56.
    whole = 56 + 3 * 112
    assert ask(administration, peer, SL, 0) == header(
        lid=peer, method=0x92, length=HEADER + whole, returned=whole)


def test_the_header_of_a_request_says_who_asks(pair, program):
    guest, lid, peer = pair.guest, pair.lid, pair.peer
    guest.say(behind("umad_fields answer 2 > /tmp/asked 2>&1"))
    guest.until("grep ready /tmp/asked")

    def ask(to, bits):
        return fields(pair.lab.run("node-1", program("umad_fields"), "ask",
                                   "11", str(to), str(SL), str(bits)).stdout)

    assert ask(lid, 0) == header(lid=lid)
    assert ask(lid + 1, BITS) == header(lid=lid + 1, path_bits=BITS)
    asked = [fields(line) for line in
             guest.say("cat /tmp/asked").splitlines()[1:]]
    assert asked == [header(method=GET, lid=peer),
                     header(method=GET, lid=peer + BITS, path_bits=1)]


def exchange(pair, program, kind, tmp_path):
    """Both ends' addresses and completions: the guest's, and those outside."""
    name = tmp_path / "peer"
    os.mkfifo(name)
    there = pair.lab.start("node-1", program("verbs_fields"), kind, str(SL),
                           str(BITS), str(name))
    pair.guest.say("rm -f /tmp/peer; mkfifo /tmp/peer; " + behind(
        f"verbs_fields {kind} {SL} {BITS} /tmp/peer > /tmp/said 2>&1"))
    theirs = there.wait_for("address .*")[0]
    ours = pair.guest.until("grep address /tmp/said")
    pair.guest.say(f"echo {theirs} > /tmp/peer")
    name.write_text(ours + "\n")
    assert there.wait() == 0, there.output
    pair.guest.until("grep failed /tmp/said")
    return ours, pair.guest.say("cat /tmp/said"), theirs, there.output


def completions(said, kind):
    return [fields(line.partition(" ")[2]) for line in said.splitlines()
            if line.startswith(kind)]


def check(pair, told, lengths, opcodes, **others):
    """What either end told of each completion.  Outside it is ibemu's own
    adapter that tells it: so the guest has sent what it should."""
    ours, here, theirs, there = told
    number = {"guest": int(ours.split()[2]), "peer": int(theirs.split()[2])}
    for said, from_lid, to, source in (
            (here, pair.peer, "guest", "peer"),
            (there, pair.lid, "peer", "guest")):
        assert completions(said, "received") == [
            {"wr_id": i, "opcode": opcodes[i], "byte_len": lengths[i],
             "slid": from_lid + BITS, "sl": SL, "src_qp": number[source],
             "imm": IMMEDIATE + i if i else 0, "qp_num": number[to],
             **{name: values[i] for name, values in others.items()}}
            for i in range(3)]
        # The receive request too many.
        assert completions(said, "failed") == [{"wr_id": 3, "status": FLUSHED}]


def test_the_completion_of_a_datagram_says_how_it_came(
        pair, program, tmp_path):
    told = exchange(pair, program, "ud", tmp_path)
    # With the 40 bytes that are kept for a GRH, whether there is one or not.
    check(pair, told, [41, 1041, 373], [RECEIVED] * 3, grh=[0, 0, 1],
          path_bits=[BITS] * 3)
    for said in (told[1], told[3]):
        assert completions(said, "sent") == [
            {"wr_id": i, "opcode": SEND} for i in range(3)]


def test_the_completion_of_a_connected_message_says_how_it_came(
        pair, program, tmp_path):
    told = exchange(pair, program, "rc", tmp_path)
    check(pair, told, [1, 4097, 777], [RECEIVED, RECEIVED, RECEIVED_WRITE],
          grh=[0] * 3, path_bits=[0] * 3)
    for said in (told[1], told[3]):
        assert completions(said, "sent") == [
            {"wr_id": 0, "opcode": SEND}, {"wr_id": 1, "opcode": SEND},
            {"wr_id": 2, "opcode": WRITE}]
