"""ibemu events: what happens, as it happens."""

import json
import re
import signal

import pytest

from harness import ROOT, until

TWO_ENDS = (ROOT / "tests/e2e/verbs/two_ends.py").read_text()


@pytest.fixture
def events(events):
    """The same, as JSON."""
    return lambda lab, *kinds: events(lab, "--json", "fault", *kinds)


def told(program, kind):
    lines = program.output.splitlines()
    return [event for event in map(json.loads, lines)
            if event["event"] == kind]


def test_links_nodes_and_devices_are_told_as_they_go_and_come(fabric, events):
    lab = fabric("single-switch:hosts=3", sm="static")
    program = events(lab, "link", "node", "device")
    lab.ibemu("link", "node-1/1", "down")
    lab.ibemu("node", "node-2", "down")
    lab.ibemu("device", "node-3", "remove")
    lab.ibemu("device", "node-3", "add")
    program.wait_for('"device".*"added"')
    program.wait_for('"link".*"up"')
    assert [(event["state"], event["a"], event["b"])
            for event in told(program, "link")][:2] == [
        ("down", {"node": "node-1", "port": 1}, {"node": "switch-1", "port": 1}),
        ("down", {"node": "node-2", "port": 1}, {"node": "switch-1", "port": 2})]
    assert [(event["node"], event["state"])
            for event in told(program, "node")] == [("node-2", "down")]
    assert [(event["node"], event["state"])
            for event in told(program, "device")] == [("node-3", "removed"),
                                                      ("node-3", "added")]
    times = [event["time_ns"] for event in told(program, "link")]
    assert times == sorted(times) and times[0] > 0


def test_a_subnet_manager_that_comes_is_seen_at_work(fabric, events):
    lab = fabric("single-switch:hosts=2", sm="none")
    program = events(lab, "sm", "port", "trap", "link")
    lab.start_opensm("node-1")
    program.wait_for('"sm".*"is_sm":true|"is_sm":true.*"sm"')
    program.wait_for('"node":"node-2".*"state":"active"')
    assert told(program, "port")[-1]["sm_lid"] > 0
    lab.ibemu("link", "node-2/1", "down")
    program.wait_for('"trap":128')
    trap = told(program, "trap")[0]
    assert (trap["node"], trap["port"], trap["repeated"]) == ("switch-1", 0,
                                                              False)


def test_dropped_packets_name_their_fault(fabric, events):
    lab = fabric("single-switch:hosts=2", sm="static")
    program = events(lab, "drop")
    lab.ibemu("fault", "add", "--name=deaf", "link", "node-2/1", "loss", "100%",
              "attr", "PortInfo")
    lab.run("node-1", "smpquery", "-t", "20", "portinfo", "2", "1", check=False)
    program.wait_for('"fault":"deaf"')
    drop = told(program, "drop")[0]
    del drop["time_ns"], drop["wall"]
    assert drop == {"event": "drop", "node": "switch-1", "port": 2,
                    "cause": "loss", "fault": "deaf", "packets": 1, "slid": 1,
                    "dlid": 2, "class": "SM", "attribute": "PortInfo"}
    # Others pass.
    lab.run("node-1", "smpquery", "nodeinfo", "2")


def test_what_happens_to_queue_pairs_mads_and_calls_is_told_with_its_cause(
        fabric, events):
    lab = fabric("single-switch:hosts=2", sm="static")
    program = events(lab, "qp", "mad", "call")
    lab.ibemu("fault", "add", "--name=deaf", "qp", "node-2/*", "loss", "opcode",
              "ack", "dir", "tx", "nth", "1")
    lab.run("node-1", "ibv_rc_pingpong", "-r", 1000000, check=False)
    lab.run("node-1", "smpquery", "-t", "20", "nodeinfo", "99", check=False)
    lab.account.run(*lab.on("node-1", "node-2"), "/usr/bin/python3", "-B", "-c",
                    TWO_ENDS, "send", 1)
    program.wait_for('"node":"node-1".*"destroyed"')
    call, = told(program, "call")
    assert re.fullmatch(
        r"node-1 process \d+: CREATE_CQ was refused with EINVAL: cqe is 1000001: "
        "there may be 1 to 196607", call["why"])
    assert re.fullmatch(
        r"node-1 port 1: SM Get\(NodeInfo\) to LID 99: .*, none answered: dropped "
        r"at switch-1/1: no forwarding entry leads to its LID( \(\d+ times\))?",
        told(program, "mad")[-1]["why"])
    happened = {host: [(event["kind"], event["text"])
                       for event in told(program, "qp") if event["node"] == host]
                for host in ("node-1", "node-2")}
    assert happened["node-1"] == [
        ("state", "RESET to INIT, by the program"),
        ("state", "INIT to RTR, by the program"),
        ("state", "RTR to RTS, by the program"),
        ("sent-again", "no answer within 33.554432ms"),
        ("state", "destroyed")]
    assert ("dropped", "dropped at node-2/1: lost by deaf") in happened["node-2"]


def test_people_get_a_line_each_and_may_choose(fabric, background):
    lab = fabric("single-switch:hosts=2", sm="static")
    program = background("ibemu", "events", f"--fabric={lab.socket}", "link")
    until(lambda: lab.ibemu("link", "node-1/1", "down")
          and lab.ibemu("link", "node-1/1", "up") and "up" in program.output)
    for line in program.output.splitlines():
        assert "link        node-1/1 - switch-1/1 " in line
    bad = lab.ibemu("events", "lnik", check=False)
    assert (bad.returncode, bad.stderr) == (
        1, 'ibemu events: "lnik" is no kind of event: did you mean "link"?\n')


def test_who_does_not_read_delays_nobody(fabric, events):
    lab = fabric("single-switch:hosts=2", sm="static")
    program = events(lab, "drop")
    program.signal(signal.SIGSTOP)
    lab.ibemu("fault", "add", "link", "node-2/1", "loss", "100%", "dir", "rx",
              "attr", "SM")
    for _ in range(3):
        lab.run("node-1", "smpquery", "-t", "1", "nodeinfo", "2", check=False)
    lab.run("node-2", "ibstat")
    program.signal(signal.SIGCONT)
    until(lambda: len(told(program, "drop")) >= 3)


def test_it_ends_when_the_daemon_does(fabric, events):
    lab = fabric("back-to-back")
    program = events(lab)
    lab.daemon.stop()
    assert program.wait() == 1
    assert "ibemu events: the daemon has ended\n" in program.output
