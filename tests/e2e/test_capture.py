"""ibemu capture: what crosses the links, as tshark reads it."""

import collections
import signal
import subprocess

import pytest

from harness import DEADLINE, Background, until
from perftest import check, play

PAIR = "single-switch:hosts=2"
HEADER = 24  # bytes of a pcap file without packets


@pytest.fixture
def capture(account, background):
    """Starts a capture; returns it and its file, when packets are captured."""
    def start(lab, *options):
        file = account.home / "packets.pcap"
        program = background("ibemu", "capture", f"--fabric={lab.socket}",
                             "-w", file, *options)
        until(lambda: file.exists() and file.stat().st_size >= HEADER)
        return program, file
    return start


def dissect(account, file, *options):
    # It takes bytes that perftest sends for headers of RPC.
    return account.run("tshark", "-n", "--disable-protocol", "rpcordma", "-r",
                       file, *options).stdout


def fields(account, file, *names):
    """Of each packet, a tuple."""
    wanted = [word for name in names for word in ("-e", name)]
    text = dissect(account, file, "-T", "fields", *wanted)
    return [tuple(line.split("\t")) for line in text.splitlines()]


def malformed(account, file):
    # It takes random bytes of perftest for a header with an EtherType, too.
    return dissect(account, file, "--disable-heuristic", "eth_over_ib", "-Y",
                   "_ws.malformed")


def test_every_kind_of_packet_is_dissected(fabric, account, capture):
    lab = fabric(PAIR)
    program, file = capture(lab)
    opensm = lab.start_opensm("node-1")
    lab.run("node-2", "ibnetdiscover")
    lab.run("node-2", "saquery", "PR")
    lab.run("node-2", "perfquery", "1", "1")
    check(play(lab, "ib_send_lat", "-c", "UD", "-n", "20")[0], 20)
    check(play(lab, "ib_send_lat", "-c", "UC", "-n", "20")[0], 20)
    check(play(lab, "ib_atomic_lat", "-n", "20")[0], 20)
    check(play(lab, "ib_read_lat", "-n", "20", "-s", "10000")[0], 20)
    check(play(lab, "ib_write_bw", "-n", "20", "-s", "10000")[0], 20)
    opensm.stop()
    program.stop(signal.SIGINT)
    assert program.process.returncode == 0
    count = int(program.wait_for(r"^ibemu capture: (\d+) packets$")[1])

    rows = fields(account, file, "infiniband.lrh.vl",
                  "infiniband.mad.mgmtclass", "infiniband.bth.opcode")
    assert len(rows) == count
    seen = collections.Counter((lane == "0x0f", mgmt_class, int(opcode))
                               for lane, mgmt_class, opcode in rows)
    directed, sa, pm, ud = (True, "0x81"), (False, "0x03"), (False, "0x04"), 100
    for mad in (directed, sa, pm):
        assert seen[(*mad, ud)] > 0, seen
    # RC: write first, middle, last; read request, first, middle, last; ack;
    # atomic ack, fetch and add.  UC: send only.  UD: send only, no MAD.
    for opcode in (6, 7, 8, 12, 13, 14, 15, 17, 18, 20, 0x24, 0x64):
        assert seen[(False, "", opcode)] > 0, (opcode, seen)
    assert malformed(account, file) == ""
    # SA answers that are longer than one MAD.
    assert dissect(account, file, "-Y", "infiniband.rmpp.rmpptype == 1")


def test_a_pingpong_on_one_port_shows_each_packet_once(fabric, account,
                                                       capture):
    lab = fabric(PAIR, sm="static")
    program, file = capture(lab, "node-1/1")
    server = lab.start("node-1", "stdbuf", "-oL", "ibv_rc_pingpong", "-n", "5",
                       "-s", "8", "-g", "0")
    server.wait_for("local address")
    until(lambda: lab.run("node-2", "ibv_rc_pingpong", "-n", "5", "-s", "8",
                          "-g", "0", "localhost", check=False).returncode == 0)
    server.wait()
    program.stop()
    opcodes = [int(opcode) for opcode, in
               fields(account, file, "infiniband.bth.opcode")]
    # What is late is sent again: the port has counted that, too.
    counters = "/sys/class/infiniband/ibemu0/ports/1/counters/port_"
    crossed = lab.run("node-1", "cat", f"{counters}xmit_packets",
                      f"{counters}rcv_packets").stdout.split()
    assert len(opcodes) == sum(map(int, crossed)) >= 20
    assert set(opcodes) == {4, 17}
    versions = fields(account, file, "infiniband.grh.ipver",
                      "infiniband.grh.nxthdr")
    assert set(versions) == {("6", "27")}
    assert malformed(account, file) == ""


def test_pcapng_names_the_ports_that_packets_leave_through(fabric, account,
                                                            background):
    lab = fabric(PAIR, sm="static")
    file = account.home / "packets.pcapng"
    program = background("ibemu", "capture", f"--fabric={lab.socket}", "-w",
                         file)
    until(lambda: file.exists() and file.stat().st_size > 0)
    lab.run("node-1", "smpquery", "nodeinfo", "2")
    program.stop(signal.SIGINT)
    names = [name for name, in fields(account, file, "frame.interface_name")]
    # There and back, hop by hop.
    assert names[:4] == ["node-1/1", "switch-1/2", "node-2/1", "switch-1/1"]
    descriptions = fields(account, file, "frame.interface_description")
    assert descriptions[1] == ("cable to node-2/1",)
    assert malformed(account, file) == ""
    about = account.run("capinfos", "-k", file).stdout
    assert f"{lab.socket}, seed " in about
    plain = account.home / "plain"
    lab.ibemu("capture", "-w", plain, "--file-format=pcapng", "--for=1ms")
    assert plain.read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"


def test_a_pipe_to_tshark_is_live(fabric, account):
    lab = fabric(PAIR, sm="static")
    script = (f"ibemu capture --fabric={lab.socket} -w - node-2/1 2>/dev/null |"
              " exec tshark -n -l -r -")
    pipe = Background(account, ["sh", "-c", script])
    try:
        # Whoever asks before the capture has begun asks again.
        until(lambda: lab.run("node-1", "smpquery", "nodeinfo", "2")
              and "SubnGetResp(NodeInfo)" in pipe.output)
    finally:
        pipe.stop(signal.SIGKILL)


def test_it_stops_by_itself(fabric, account, capture):
    lab = fabric(PAIR, sm="static")
    program, file = capture(lab, "--count=3")
    lab.run("node-1", "ibnetdiscover")
    assert program.wait() == 0
    assert len(dissect(account, file).splitlines()) == 3
    program.wait_for("^ibemu capture: 3 packets$")
    program, file = capture(lab, "--for=10ms")
    assert program.wait() == 0
    assert file.stat().st_size == HEADER
    program.wait_for("^ibemu capture: 0 packets$")


def test_what_can_not_be_written_is_one_sentence(fabric, account, background):
    lab = fabric(PAIR, sm="static")
    full = lab.ibemu("capture", "-w", "/dev/full", check=False)
    assert full.returncode == 1
    assert full.stderr == "ibemu capture: /dev/full: No space left on device\n"
    ends = account.popen(["sh", "-c", f"ibemu capture --fabric={lab.socket} "
                          "-w - | head -c 24 >begun"], text=True,
                         stderr=subprocess.PIPE)
    until((account.home / "begun").exists)
    until(lambda: lab.run("node-1", "ibnetdiscover")
          and ends.poll() is not None)
    assert "standard output: Broken pipe\n" in ends.communicate(
        timeout=DEADLINE)[1]


MISTAKES = [
    (["-w", "x", "switch-1/9"],
     'port 9 of "switch-1" does not exist: it has ports 1 to 2'),
    (["-w", "x", "switch-2/1"], 'no node "switch-2": did you mean "switch-1"?'),
    (["-w", "x", "--count=0"], "--count=0: write a number from 1 on"),
    (["-w", "x", "--for=10"],
     "--for=10: write a time such as 10s, 500ms or 2m"),
    (["-w", "nowhere/x"], "nowhere/x: No such file or directory"),
]


def test_a_mistake_is_one_sentence_and_leaves_no_file(fabric, account):
    lab = fabric(PAIR, sm="static")
    for options, sentence in MISTAKES:
        done = lab.ibemu("capture", *options, check=False)
        assert (done.returncode, done.stderr) == (
            1, f"ibemu capture: {sentence}\n")
        assert not (account.home / "x").exists()


def test_who_does_not_read_delays_nobody(fabric, account, capture):
    """A stopped reader loses packets, and is told so when it goes on."""
    lab = fabric(PAIR, sm="static")
    program, _ = capture(lab)
    program.signal(signal.SIGSTOP)
    check(play(lab, "ib_write_bw", "-n", "20", "-s", str(4 << 20))[0], 20)
    program.signal(signal.SIGCONT)
    program.stop(signal.SIGTERM)
    program.wait_for(r"^ibemu capture: \d+ packets, \d+ more were lost: they "
                     "came faster than they were written$")
