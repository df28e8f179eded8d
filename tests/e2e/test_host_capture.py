"""ibemu capture --host: the MADs of a host, whatever stands behind it."""

import collections
import signal

import pytest

from harness import Background, until

PAIR = "single-switch:hosts=2"
SENT, RECEIVED = "0x00000002", "0x00000001"
GET, RESPONSE = "0x01", "0x81"


class Lab:
    """Two hosts, and captures of their MADs."""

    def __init__(self, fabric):
        self.fabric = fabric
        self.account = fabric.account
        self.run, self.start = fabric.run, fabric.start
        self._captures = []

    def capture(self, host, *options, name="mads.pcapng"):
        """Starts one; returns it and its file, when MADs are captured."""
        file = self.account.home / name
        daemon = next(word for word in self.fabric.on(host)
                      if word.startswith("--fabric="))
        program = Background(self.account, [
            "ibemu", "capture", daemon, "-w", file, *options])
        self._captures.append(program)
        until(lambda: file.exists() and file.stat().st_size > 0)
        return program, file

    def lid(self, host):
        return int(self.run(host, "cat",
                            "/sys/class/infiniband/ibemu0/ports/1/lid").stdout, 16)

    def fields(self, file, *names, only=""):
        wanted = [word for name in names for word in ("-e", name)]
        done = self.account.run("tshark", "-n", "-r", file, "-Y", only, "-T",
                                "fields", *wanted)
        return [tuple(line.split("\t")) for line in done.stdout.splitlines()]

    def stop(self):
        for program in self._captures:
            program.stop()


@pytest.fixture
def lab(any_fabric):
    made = Lab(any_fabric(PAIR, sm="builtin"))
    yield made
    made.stop()


@pytest.mark.one_back_end
def test_what_programs_send_and_receive_is_dissected(lab):
    program, file = lab.capture("node-1", "--host=node-1")
    own, peer = lab.lid("node-1"), lab.lid("node-2")
    lab.run("node-1", "smpquery", "-D", "nodeinfo", "0")
    lab.run("node-1", "smpquery", "-D", "nodeinfo", "0,1")
    lab.run("node-1", "smpquery", "nodeinfo", peer)
    lab.run("node-1", "perfquery", peer, "1")
    lab.run("node-1", "saquery")
    lab.start("node-2", "ibping", "-S")
    until(lambda: "1 received" in lab.run("node-1", "ibping", "-c", "1", peer,
                                           check=False).stdout)
    program.stop(signal.SIGINT)
    assert program.process.returncode == 0
    count = int(program.wait_for(r"^ibemu capture: (\d+) packets$")[1])

    rows = lab.fields(file, "frame.interface_name",
                      "frame.packet_flags_direction", "infiniband.lrh.vl",
                      "infiniband.mad.mgmtclass", "infiniband.mad.method")
    assert len(rows) == count
    assert {row[0] for row in rows} == {"node-1/1"}
    seen = collections.Counter(row[1:] for row in rows)
    for lane, mgmt_class in [("0x0f", "0x81"), ("0x0f", "0x01"),
                             ("0x00", "0x04"), ("0x00", "0x32")]:
        assert seen[(SENT, lane, mgmt_class, GET)] > 0, seen
        assert seen[(RECEIVED, lane, mgmt_class, RESPONSE)] > 0, seen
    # Lists come by RMPP: each of its packets shows, ACKs too.
    get_table = ("0x00", "0x03", "0x12")
    assert seen[(SENT, *get_table)] > 0, seen
    kinds = collections.Counter(lab.fields(
        file, "frame.packet_flags_direction", "infiniband.rmpp.rmpptype",
        only="infiniband.mad.method == 0x92 || infiniband.rmpp.rmpptype == 2"))
    assert kinds[(RECEIVED, "0x01")] > 1 and kinds[(SENT, "0x02")] > 0, kinds
    # What does not leave the node has permissive LIDs, as its answer.
    local = lab.fields(file, "infiniband.lrh.slid", "infiniband.lrh.dlid",
                       only="infiniband.mad.mgmtclass == 0x81 && "
                       "infiniband.smpdirected.hopcount == 0")
    assert set(local) == {("65535", "65535")} and len(local) >= 2
    by_lid = set(lab.fields(file, "frame.packet_flags_direction",
                            "infiniband.lrh.slid", "infiniband.lrh.dlid",
                            only="infiniband.mad.mgmtclass == 0x04"))
    assert by_lid == {(SENT, str(own), str(peer)),
                      (RECEIVED, str(peer), str(own))}
    assert lab.fields(file, "frame.number", only="_ws.malformed") == []


@pytest.mark.deep
@pytest.mark.one_back_end
def test_both_ends_see_what_one_sends(lab):
    """A capture begins before the programs, and outlives them."""
    asking, sent = lab.capture("node-1", "--host=node-1", name="sent.pcap")
    asked, received = lab.capture("node-2", "--host=node-2", name="received.pcap")
    peer = lab.lid("node-2")
    for _ in range(2):
        server = lab.start("node-2", "ibping", "-S")
        until(lambda: "1 received" in lab.run(
            "node-1", "ibping", "-c", "1", peer, check=False).stdout)
        server.stop()
    for program in asking, asked:
        program.stop(signal.SIGINT)
    pings = "infiniband.mad.mgmtclass == 0x32 && infiniband.mad.method == 1"
    # A node whose host is not there answers, too: that it knows no ibping.
    answers = ("infiniband.mad.mgmtclass == 0x32 && infiniband.mad.method == 0x81"
               " && infiniband.mad.status == 0")
    out, back = "erf.flags.cap == 2 && ", "erf.flags.cap == 1 && "
    names = "infiniband.mad.transactionid", "infiniband.lrh.dlid"
    arrived = lab.fields(received, *names, only=back + pings)
    assert len(arrived) >= 2
    assert set(arrived) <= set(lab.fields(sent, *names, only=out + pings))
    answered = lab.fields(received, *names, only=out + answers)
    assert len(answered) >= 2
    assert set(lab.fields(sent, *names, only=back + answers)) <= set(answered)


def test_mistakes_are_one_sentence(lab):
    daemon = next(word for word in lab.fabric.on("node-1")
                  if word.startswith("--fabric="))

    def refusal(*words):
        done = lab.account.run("ibemu", "capture", daemon, "-w", "x", *words,
                               check=False)
        assert done.returncode == 1 and done.stderr.count("\n") == 1, done
        assert not (lab.account.home / "x").exists()
        return done.stderr
    assert 'did you mean "node-' in refusal("--host=node-3")
    assert ("--host=node-1 captures the MADs of a host, node-1/1 the packets of "
            "a link: name one or the other") in refusal("--host=node-1",
                                                        "node-1/1")
    assert "--host=: name a node, as in --host=node-1" in refusal("--host", "")


@pytest.mark.deep
def test_a_switch_is_a_host(fabric, account, background):
    """opensm may run on one."""
    lab = fabric(PAIR)
    file = account.home / "mads"
    program = background("ibemu", "capture", f"--fabric={lab.socket}",
                         "--host=switch-1", "-w", file)
    until(lambda: file.exists() and file.stat().st_size > 0)
    opensm = lab.start_opensm("switch-1")
    opensm.stop()
    program.stop(signal.SIGINT)
    rows = account.run("tshark", "-n", "-r", file, "-T", "fields", "-e",
                       "erf.flags.cap", "-e", "infiniband.mad.mgmtclass").stdout
    for direction in "2", "1":
        assert f"{direction}\t0x81\n" in rows
    malformed = account.run("tshark", "-n", "-r", file, "-Y",
                            "_ws.malformed").stdout
    assert malformed == ""
