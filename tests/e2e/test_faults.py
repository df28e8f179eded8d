"""ibemu fault: what goes wrong on a link, by name, until it is taken away."""

import json
import re

import pytest

from harness import until


@pytest.fixture
def subnet(fabric):
    return fabric("single-switch:hosts=4", sm="static", options=["--seed=1"])


def asks(subnet, *options):
    """Whether node-1 hears from node-2."""
    done = subnet.run("node-1", "smpquery", *options, "nodeinfo", "2",
                      check=False)
    return done.returncode == 0


def test_a_fault_acts_until_it_is_removed(subnet):
    add = ("fault", "add", "--name=bad-cable", "link", "node-1/1", "loss",
           "100%", "dir", "rx")
    assert subnet.ibemu(*add).stdout == "bad-cable\n"
    assert not asks(subnet, "-t", "50")
    assert subnet.ibemu("fault", "rm", "bad-cable").stdout == ""
    assert asks(subnet)


def test_faults_are_listed_with_what_they_did(subnet):
    add = ("fault", "add", "link", "node-1/1")
    assert subnet.ibemu(*add, "delay", "20us", "5us").stdout == "fault-1\n"
    assert subnet.ibemu(*add, "duplicate", "100%", "dir",
                        "tx").stdout == "fault-2\n"
    assert asks(subnet)
    head, first, second = subnet.ibemu("fault", "ls").stdout.splitlines()
    assert head.split() == ["FAULT", "PLACE", "DIR", "WHAT", "PACKETS", "LOST",
                            "CORRUPTED", "DUPLICATED", "REORDERED", "DELAYED",
                            "ACTED"]
    cells = re.split(r"  +", first)
    assert cells[:4] == ["fault-1", "node-1/1", "both", "delay 20us 5us"]
    assert cells[4] == cells[9] and int(cells[4]) >= 2
    assert re.split(r"  +", second)[:4] == ["fault-2", "node-1/1", "tx",
                                            "duplicate 100%"]
    told = subnet.faults()
    assert told[1]["tx"]["duplicated"] == told[1]["tx"]["packets"] == 1

    subnet.ibemu("fault", "reset")
    assert subnet.ibemu("fault", "ls").stdout.split() == head.split()
    assert subnet.faults() == []


def test_health_names_what_is_wrong_and_fails_then(subnet):
    well = subnet.ibemu("health")
    assert well.stdout == "4 links are active\n" and well.stderr == ""
    subnet.ibemu("counter", "node-2/1", "SymbolErrorCounter=7")
    subnet.ibemu("link", "node-1/1", "down")
    ill = subnet.ibemu("health", check=False)
    assert ill.returncode == 1
    assert ill.stdout.splitlines()[:2] == ["3 links are active",
                                           "node-2/1: SymbolErrorCounter 7"]
    assert ill.stderr == "ibemu health: 1 link is cut, 3 ports count errors\n"
    told = subnet.ibemu("health", "--json", check=False)
    assert json.loads(told.stdout)["links"]["cut"] == 1
    assert told.returncode == 1


def test_health_knows_a_link_that_could_be_faster(subnet):
    subnet.run("node-1", "ibportstate", "-D", "0", "1", "width", "1")
    subnet.ibemu("link", "node-1/1", "down")
    subnet.ibemu("link", "node-1/1", "up")
    until(lambda: "1xHDR, could be 4xHDR" in
          subnet.ibemu("health", check=False).stdout)


MISTAKES = [
    ("add link node-11/1 loss 5%", 'no node "node-11": did you mean "node-1"?'),
    ("add link node-1/2 loss 5%",
     'port 2 of "node-1" does not exist: it has ports 1 to 1'),
    ("add link node-1 loss 5%",
     '"node-1" names no port: write NODE/PORT, as in sw1/3'),
    ("add link node-1/1 loss 120%",
     "loss 120%: a percentage is from 0% to 100%"),
    ("add link node-1/1 loss -5%", "loss -5%: a percentage is from 0% to 100%"),
    ("add link node-1/1 delay 10",
     "delay 10: write a time, as in 10us or 2ms"),
    ("add link node-1/1 los 5%", '"los" is no fault: did you mean "loss"?'),
    ("add link node-1/1 loss 5% attr PortInfos",
     '"PortInfos" is no attribute, no class such as SA, and neither MAD nor '
     'verbs: did you mean "PortInfo"?'),
    ("add node node-11 slow 5ms", 'no node "node-11": did you mean "node-1"?'),
    ("add node node-1 corrupt 5%",
     '"corrupt" is no fault of a node, which is slow or loses answers'),
    ("add link node-1/1 flap 1s 1s",
     "flap 1s 1s: it must be down for less than the period, less twice the "
     "jitter"),
    ("add --name=taken link node-1/1 loss 1%",
     'there is a fault "taken" already: remove it, or take another name'),
    ("rm takn", 'no fault "takn": did you mean "taken"?'),
]


def test_each_mistake_is_one_sentence_and_changes_nothing(subnet):
    subnet.ibemu("fault", "add", "--name=taken", "link", "node-1/1", "loss", "0%")
    before = subnet.ibemu("fault", "ls").stdout
    for command, sentence in MISTAKES:
        done = subnet.ibemu("fault", *command.split(), check=False)
        assert done.returncode == 1, command
        assert done.stderr == f"ibemu fault: {sentence}\n"
        assert done.stdout == ""
    assert subnet.ibemu("fault", "ls").stdout == before


def test_a_port_without_a_cable_has_no_faults(fabric):
    subnet = fabric("single-switch:hosts=2,ports=4", sm="static")
    done = subnet.ibemu("fault", "add", "link", "switch-1/4", "loss", "1%",
                        check=False)
    assert done.stderr == 'ibemu fault: port 4 of "switch-1" has no cable\n'
    assert done.returncode == 1


def test_a_slow_node_answers_late_and_other_attributes_at_once(subnet):
    subnet.ibemu("fault", "add", "node", "node-2", "slow", "500ms", "attr",
                 "PortInfo")
    port_info = ("portinfo", "2", "1")
    assert subnet.run("node-1", "smpquery", "-t", "20", *port_info,
                      check=False).returncode != 0
    assert asks(subnet)
    subnet.run("node-1", "smpquery", "-t", "5000", *port_info)
    fault, = subnet.faults()
    assert fault["tx"]["delayed"] >= 2


def test_a_link_flaps_until_its_fault_goes(subnet):
    subnet.ibemu("fault", "add", "link", "node-1/1", "flap", "30ms", "10ms")

    def cuts():
        fault, = subnet.faults()
        return fault["cuts"] >= 3
    until(cuts)
    subnet.ibemu("fault", "reset")
    assert asks(subnet)
    port = subnet.run("node-2", "perfquery", "1", "1").stdout
    assert int(re.search(r"LinkDownedCounter:\.*(\d+)", port)[1]) >= 3


def test_bit_errors_are_symbol_errors_of_the_receiver(subnet):
    subnet.ibemu("fault", "add", "link", "node-1/1", "ber", "1e-3", "dir", "rx")
    for _ in range(5):
        asks(subnet, "-t", "20")
    subnet.ibemu("fault", "reset")
    port = subnet.run("node-2", "perfquery", "1", "1").stdout
    assert int(re.search(r"SymbolErrorCounter:\.*(\d+)", port)[1]) >= 5
