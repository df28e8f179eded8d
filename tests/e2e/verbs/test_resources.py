"""What programs have made by verbs, as `ibemu cq ls` and its like tell it."""

import json
import re
from signal import SIGTERM

import pytest

from harness import ROOT, Background, HcaFabric, until

SCRIPT = (ROOT / "tests/e2e/verbs/resources.py").read_text()
PROGRAM = ["/usr/bin/python3", "-B", "-c", SCRIPT]


class Held:
    """A program that has made its objects, and what it said of them."""

    def __init__(self, account, run):
        self.program = Background(account, [*run, *PROGRAM])
        self.connected, self.datagrams, self.key, self.address = (
            int(number, 16) for number in self.program.wait_for(
                r"ready (\w+) (\w+) (\w+) (\w+)").groups())

    def end(self):
        self.program.signal(SIGTERM)
        assert self.program.wait() == 0, self.program.output


def listed(ibemu, kind, node):
    """Without what differs from run to run."""
    items = json.loads(ibemu(kind, "ls", node, "--json").stdout)
    for item in items:
        assert item.pop("pid") > 1
        assert re.fullmatch("0x[0-9a-f]{16}", item.pop("guid"))
        assert item.pop("node") == node
        item.pop("handle", None)
    return items


def check_lists(ibemu, node, held):
    assert listed(ibemu, "cq", node) == [
        {"size": 10, "waiting": 0, "channel": False,
         "send": [held.connected, held.datagrams], "receive": [held.datagrams]},
        {"size": 20, "waiting": 0, "channel": True, "send": [],
         "receive": [held.connected]}]
    assert listed(ibemu, "mr", node) == [
        {"lkey": held.key, "rkey": held.key, "address": held.address,
         "length": 8192, "access": ["local-write"]}]
    queue, = listed(ibemu, "srq", node)
    assert queue.pop("size") >= 30 and queue.pop("sges") >= 1
    assert queue == {"posted": 3, "limit": 0,
                     "receive": [held.connected]}


def test_each_kind_of_object_is_listed_while_its_program_has_it(fabric):
    lab = fabric("single-switch:hosts=2", sm="static")
    held = Held(lab.account, lab.on("node-2"))
    check_lists(lab.ibemu, "node-2", held)
    for kind in ("cq", "mr", "srq", "mcast"):
        assert json.loads(lab.ibemu(kind, "ls", "node-1", "--json").stdout) == []
    for kind, title, row in (
            ("cq", "CQ +WAITING +CHANNEL +SEND +RECEIVE",
             rf"0/20 +yes +- +{held.connected:#x}"),
            ("mr", "MR +LKEY +RKEY +ADDRESS +BYTES +ACCESS",
             rf"{held.key:#x} +{held.key:#x} +{held.address:#x} +8192 +"
             "local-write"),
            ("srq", "SRQ +POSTED +LIMIT +SGES +RECEIVE",
             rf"3/\d+ +0 +\d+ +{held.connected:#x}")):
        assert re.search(
            rf"^NODE +{title} +PROCESS\n(.*\n)?node-2 +\d+ +{row} +\d+\n",
            lab.ibemu(kind, "ls").stdout), lab.ibemu(kind, "ls").stdout
    shown = lab.ibemu("qp", "show", f"node-2/{held.datagrams:#x}").stdout
    for line in ("type +UD", "state +RTS", "port +1", "peer +-", "Q_Key +0x1234",
                 r"send queue +0/\d+, 0 outstanding", r"receive queue +0/\d+"):
        assert re.search(f"(?m)^{line}$", shown), shown
    assert "timeout" not in shown
    held.end()
    for kind in ("qp", "cq", "mr", "srq", "mcast"):
        assert lab.ibemu(kind, "ls", "node-2").stdout.count("\n") == 1


def test_members_of_a_group_are_listed_while_they_are_attached(fabric):
    lab = fabric("single-switch:hosts=2", sm="builtin")
    receiver = lab.start("node-2", "mckey", "-m", "239.1.2.3")
    until(lambda: len(json.loads(
        lab.ibemu("mcast", "ls", "--json").stdout)) == 1)
    member, = json.loads(lab.ibemu("mcast", "ls", "node-2", "--json").stdout)
    queue, = json.loads(lab.ibemu("qp", "ls", "node-2", "--json").stdout)[-1:]
    assert member["mgid"] == "ff12:4001:ffff::f01:203"
    assert (member["qpn"], member["pid"]) == (queue["qpn"], queue["pid"])
    assert member["mlid"] >= 0xc000
    assert re.search(rf"(?m)^node-2 +{member['qpn']:#x} +{member['mgid']} +"
                     rf"{member['mlid']:#x} +{member['pid']}$",
                     lab.ibemu("mcast", "ls").stdout)
    pids = {line.split()[-1] for line in
            lab.ibemu("qp", "ls", "node-2").stdout.splitlines()[1:]}
    assert pids == {"ibemud", str(member["pid"])}, "ib0 of the host is up"
    receiver.stop()
    assert lab.ibemu("mcast", "ls").stdout.count("\n") == 1


@pytest.mark.parametrize("words, sentence", [
    (["qp", "show", "node-1"], '"node-1" names no queue pair: NODE/QPN does'),
    (["qp", "show", "node-1/0x99"], "node-1 has no queue pair 0x99"),
    (["qp", "show", "node-7/0x99"], 'no node "node-7": did you mean "node-'),
    (["mr", "ls", "node-7"], 'no node "node-7": did you mean "node-'),
])
def test_what_is_not_there_is_said(fabric, words, sentence):
    lab = fabric("single-switch:hosts=2", sm="static")
    done = lab.ibemu(*words, check=False)
    assert done.returncode == 1
    assert sentence in done.stderr


def test_a_driven_adapters_objects_are_listed_as_well(account):
    lab = HcaFabric(account, "lab", "single-switch:hosts=2", sm="static")
    try:
        driver = lab.drive("node-1")
        held = Held(lab.account, lab.on("node-1"))

        def ibemu(command, *words):
            return lab.account.run("ibemu", command, f"--fabric={driver.socket}",
                                   *words)
        check_lists(ibemu, "node-1", held)
        held.end()
    finally:
        lab.stop()
