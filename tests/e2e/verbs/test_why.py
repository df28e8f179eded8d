"""`ibemu why`: the reason of a completion with an error, in a sentence."""

import json
import re

import pytest

from harness import until
from perftest import command_of


def play(lab, *options):
    """A ping-pong, whose client's run has these options; what it says."""
    server = lab.start("node-1", "stdbuf", "-oL", "ibv_rc_pingpong")
    server.wait_for("local address")

    def client():
        done = lab.account.run("ibemu", "run", f"--fabric={lab.socket}",
                               "--host=node-2", *options, "--",
                               "ibv_rc_pingpong", "localhost", check=False)
        return None if "Couldn't connect" in done.stderr else done

    return until(client)


def lose_all(lab):
    lab.ibemu("fault", "add", "--name=bad-cable", "link", "node-1/1", "loss",
              "100%", "dir", "rx")


def test_why_names_the_fault_that_lost_the_packets_of_a_program_that_ended(
        fabric):
    lab = fabric("single-switch:hosts=2", sm="static")
    lose_all(lab)
    assert "transport retry counter exceeded (12)" in play(lab).stderr
    text = lab.ibemu("why", "node-2").stdout
    assert re.match(
        r"node-2 queue pair (0x[0-9a-f]+): work request 2 \(SEND\) ended with "
        r"RETRY_EXC_ERR: 32 tries of PSN (0x[0-9a-f]+) in 2\.[\d]+s, none "
        r"answered: dropped at switch-1/1: lost by bad-cable \(128 times\)"
        r"\n\nTIME +UNTIL", text), text
    assert re.search(r"(?m)^ *[\d.]+ .*state +RTR to RTS, by the program$", text)

    told = json.loads(lab.ibemu("why", "node-2", "--json").stdout)
    failed = told["queue_pairs"][0]
    assert failed["why"] in text and not failed["exists"]
    kinds = [incident["kind"] for incident in failed["incidents"]]
    assert kinds[:3] == ["state"] * 3
    assert {"sent-again", "dropped", "failed"} < set(kinds)
    one = lab.ibemu("why", f"node-2/{failed['qpn']}").stdout
    assert one == text
    assert lab.ibemu("why", f"node-2/{failed['qpn']:#x}").stdout == text
    assert lab.ibemu("why", str(failed["pid"])).stdout == text
    nobody = lab.ibemu("why", "999999999", check=False)
    assert nobody.returncode == 1
    assert "nothing is known of process 999999999: it has no" in nobody.stderr
    lab.ibemu("fault", "rm", "bad-cable")
    assert ("lost by bad-cable, removed since (128 times)\n" in
            lab.ibemu("why", "node-2").stdout)


def test_why_names_the_adapter_that_was_removed_at_both_ends(fabric):
    lab = fabric("single-switch:hosts=2", sm="static")
    command = command_of("ib_send_bw", "-D", "1", "--run_infinitely")
    server = lab.start("node-2", *command)
    server.wait_for("Waiting for client")
    client = lab.start("node-1", "sh", "-c",  # it sends without end
                       f"until {' '.join(command)} localhost; do sleep 0.1; done")
    client.wait_for(r"^ 65536 +\d+ +[\d.]+ +[1-9]")
    lab.ibemu("device", "node-2", "remove")
    until(lambda: re.match(
        r"node-1 queue pair 0x\w+: work request \d+ \(SEND\) ended with "
        r"RETRY_EXC_ERR: .*: the link was down from [\d.]+m?s on, as the adapter "
        r"of node-2 was removed \(\d+ times\)\n",
        lab.ibemu("why", "node-1").stdout))
    # With a work request that failed for it, if the server had posted one again.
    assert re.search(r"(?m)^node-2 queue pair 0x\w+.* went from RTR to ERR, as "
                     "the adapter has gone$", lab.ibemu("why", "node-2").stdout)


def test_a_run_explains_at_its_end_what_failed_in_it(fabric):
    lab = fabric("single-switch:hosts=2", sm="static")
    lose_all(lab)
    failed = play(lab, "--explain")
    assert failed.returncode == 1
    lines = [line for line in failed.stderr.splitlines()
             if line.startswith("ibemu run: ")]
    assert len(lines) == 1
    assert "ended with RETRY_EXC_ERR" in lines[0]
    assert lines[0].endswith("lost by bad-cable (128 times)")

    lab.ibemu("fault", "rm", "bad-cable")
    assert "ibemu run" not in play(lab, "--explain").stderr


def test_why_tells_of_the_mads_and_connections_of_a_process(fabric):
    lab = fabric("single-switch:hosts=2", sm="static")
    lab.ibemu("link", "node-2/1", "down")
    for command, reason in (
            ("smpquery -t 50 -D nodeinfo 0,1,2",
             r" *[\d.]+  mad +node-1 port 1: SM Get\(NodeInfo\) by the directed "
             r"route 0,1,2: .*, none answered: dropped at switch-1/2: the link "
             r"was down from .* on( \(\d+ times\))?\n"),
            ("rping -c -a 198.18.0.2 -C 1",
             r" *[\d.]+  connection +node-1 \S+ -> node-2 \S+ RDMA_PS_TCP no "
             r"address: .*\n")):
        done = lab.run("node-1", "sh", "-c", f"echo $$; exec {command}",
                       check=False)
        told = lab.ibemu("why", done.stdout.split()[0]).stdout
        assert re.fullmatch(reason, told), told


# Nobody at node-2 has opened rdma_cm, so nobody answers for its address.
FAILS = """
smpquery -t 50 -D nodeinfo 0,1,2
ibv_rc_pingpong -r 1000000
rping -c -a 198.18.0.2 -C 1
true
"""


def test_a_run_explains_what_was_not_answered_refused_and_not_connected(fabric):
    lab = fabric("single-switch:hosts=2", sm="static")
    lab.ibemu("link", "node-2/1", "down")
    told = lab.account.run(
        "ibemu", "run", f"--fabric={lab.socket}", "--host=node-1", "--explain",
        "--", "sh", "-c", FAILS).stderr
    lines = re.findall(r"(?m)^ibemu run: (.*)$", told)
    assert len(lines) == 3, told
    assert re.match(r"node-1 port 1: SM Get\(NodeInfo\) by the directed route "
                    r"0,1,2: .*, none answered: dropped at switch-1/2: the link "
                    "was down from", lines[0])
    assert re.fullmatch(r"node-1 process \d+: CREATE_CQ was refused with EINVAL: "
                        "cqe is 1000001: there may be 1 to 196607", lines[1])
    assert re.match(r"node-1 \S+ -> node-2 \S+ RDMA_PS_TCP no address", lines[2])


def test_why_says_that_nothing_failed(fabric):
    lab = fabric("single-switch:hosts=2", sm="static")
    assert play(lab).returncode == 0
    assert re.fullmatch(r"no work request of node-2 has failed: [1-9]\d* queue "
                        r"pairs\n", lab.ibemu("why", "node-2").stdout)


def test_why_refuses_what_does_not_exist(fabric):
    lab = fabric("single-switch:hosts=2", sm="static")
    for what, rule in (("node-3", 'no node "node-3": did you mean "node-1"?'),
                       ("node-1/99", "node-1 has no queue pair 0x63, and had "
                                     "none lately")):
        done = lab.ibemu("why", what, check=False)
        assert done.returncode == 1
        assert rule in done.stderr


def test_why_names_what_kept_a_management_packet_from_its_answer(fabric):
    lab = fabric("single-switch:hosts=2", sm="static")
    lab.ibemu("link", "node-2/1", "down")
    failed = lab.run("node-1", "perfquery", "-t", "50", "2", "1", check=False)
    assert failed.returncode != 0
    text = lab.ibemu("why", "node-1").stdout
    assert re.search(
        r"(?m)^ +\d+\.\d+  mad         node-1 port 1: PM Get\(ClassPortInfo\) to LID 2: "
        r"\d (?:try|tries) in [\d.]+m?s, none answered: dropped at switch-1/2: "
        r"the link was down from [\d.]+m?s on", text), text
    mad, = json.loads(lab.ibemu("why", "node-1", "--json").stdout)["mads"]
    # libibmad may give up before its last request has timed out.
    assert mad["why"] in text and 1 <= mad["tries"] <= 3
    assert lab.ibemu("why", "node-2").stdout == (
        "no work request of node-2 has failed: 0 queue pairs\n")


def test_why_names_the_connections_that_were_refused(fabric):
    lab = fabric("single-switch:hosts=2", sm="builtin")
    other = lab.start("node-2", "stdbuf", "-oL", "rping", "-s", "-d", "-p", "7999")
    other.wait_for("rdma_listen")
    refused = lab.run("node-1", "rping", "-c", "-a", "node-2", "-C1",
                      check=False)
    assert refused.returncode != 0
    line = (r"(?m)^ +\d+\.\d+  connection  node-1 198\.18\.0\.1:\d+ -> node-2 "
            r"198\.18\.0\.2:7174 RDMA_PS_TCP rejected by node-2: "
            r"invalid service ID \(8\)$")
    for node in ("node-1", "node-2"):
        assert re.search(line, lab.ibemu("why", node).stdout), node
    kept, = json.loads(lab.ibemu("why", "node-1", "--json").stdout)["connections"]
    assert (kept["state"], kept["reason"]) == ("rejected", 8)


def test_what_went_well_is_told_in_its_order_to_who_asks_for_all(fabric):
    lab = fabric("single-switch:hosts=2", sm="builtin")
    server = lab.start("node-2", "stdbuf", "-oL", "rping", "-s", "-d")
    server.wait_for("rdma_listen")
    lab.run("node-1", "rping", "-c", "-a", "node-2", "-C1")
    server.wait()
    assert lab.ibemu("why", "node-1").stdout.startswith(
        "no work request of node-1 has failed")
    told = lab.ibemu("why", "node-1", "--all").stdout
    assert re.search(r"(?m)^no work request has failed\n\n *TIME .*\n.* state +"
                     r"RESET to INIT", told), told
    assert re.search(r"(?m)^ +\d+\.\d+  mad         node-1 port 1: SA Get"
                     r"\(PathRecord\) to LID \d: answered in [\d.]+[mu]s$", told)
    times, states = zip(*re.findall(
        r"(?m)^ +(\d+\.\d+)  connection  node-1 [^>]* -> node-2 [\d.:]+ "
        r"RDMA_PS_TCP (asked|established|disconnected by node-[12])$", told))
    assert states[:2] == ("asked", "established")
    assert states[2].startswith("disconnected") and len(states) == 3
    assert sorted(times, key=float) == list(times)
    assert json.loads(lab.ibemu("why", "node-1", "--all", "--json").stdout)[
        "connections"][1]["state"] == "established"


# A fault, what node-1 asks node-2 then, and how what is told of it ends.
UNANSWERED = r"\d+ (?:try|tries) in [\d.]+m?s, none answered: "
MAD_REASONS = [
    ("link node-2/1 loss 100%", "ibping -c 1 -t 50 2",
     rf"ping Get\(0x0\) to LID 2: {UNANSWERED}dropped at switch-1/2: lost by "
     r"fault-1(?: \(\d times\))?"),
    ("link node-1/1 delay 1s dir tx", "ibping -c 1 -t 50 2",
     rf"ping Get\(0x0\) to LID 2: {UNANSWERED}held up at node-1/1 by fault-1"),
    ("node node-2 loss 100% attr NodeInfo", "smpquery -t 50 nodeinfo 2",
     rf"SM Get\(NodeInfo\) to LID 2: {UNANSWERED}the answer was dropped at "
     r"node-2/1: lost by fault-1(?: \(\d times\))?"),
    ("node node-2 slow 1s attr PortInfo", "smpquery -t 50 portinfo 2 1",
     rf"SM Get\(PortInfo\) to LID 2: {UNANSWERED}the answer was held up at "
     r"node-2/1 by fault-1"),
    ("node node-2 loss 100% attr NodeInfo", "opensm -o -f opensm.log",
     rf"SM Get\(NodeInfo\) by the directed route 0,1,2: {UNANSWERED}the answer "
     r"was dropped at node-2/1: lost by fault-1(?: \(\d times\))?"),
]


@pytest.mark.parametrize("fault, program, reason", MAD_REASONS)
def test_why_names_the_fault_that_kept_a_program_from_its_answer(
        fabric, fault, program, reason):
    lab = fabric("single-switch:hosts=2", sm="static")
    lab.ibemu("fault", "add", *fault.split())
    server = lab.start("node-2", "ibping", "-S")
    lab.run("node-1", *program.split(), check=False)
    told = lab.ibemu("why", "node-1").stdout
    server.stop()
    first = told.splitlines()[0]
    assert re.fullmatch(rf" +\d+\.\d+  mad         node-1 port 1: {reason}",
                        first), told


def test_what_a_vendor_err_stands_for_is_told_without_a_daemon(account):
    for words in (["--vendor-err=0x8a"], ["--vendor-err", "138"]):
        told = account.run("ibemu", "why", *words).stdout
        assert re.search(r"(?m)^0x8a +138 +REM_INV_REQ_ERR +charmplusplus/charm"
                         r"#2532 +the peer found the request invalid", told)
        assert len(told.splitlines()) == 2
    every = json.loads(account.run("ibemu", "why", "--vendor-err",
                                   "--json").stdout)
    assert [error["status"] for error in every
            if error["vendor_err"] == 0x81] == ["RETRY_EXC_ERR"]
    for words, status, what in (
            ("--vendor-err=0x7f", 1, "what 0x7f stands for is not known"),
            ("--vendor-err node-1", 1, "node-1: write a number, like 0x81"),
            ("--vendor-err=129 node-1", 1, "leave out node-1"),
            ("", 2, "what is required")):
        wrong = account.run("ibemu", "why", *words.split(), check=False)
        assert wrong.returncode == status and what in wrong.stderr
