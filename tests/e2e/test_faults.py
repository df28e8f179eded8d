"""ibemu fault: what goes wrong on a link, by name, until it is taken away."""

import json
import re

import pytest


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
    assert head.split() == ["FAULT", "LINK", "DIR", "WHAT", "PACKETS", "LOST",
                            "CORRUPTED", "DUPLICATED", "REORDERED", "DELAYED"]
    cells = re.split(r"  +", first)
    assert cells[:4] == ["fault-1", "node-1/1", "both", "delay 20us 5us"]
    assert cells[4] == cells[9] and int(cells[4]) >= 2
    assert re.split(r"  +", second)[:4] == ["fault-2", "node-1/1", "tx",
                                            "duplicate 100%"]
    told = json.loads(subnet.ibemu("fault", "ls", "--json").stdout)
    assert told[1]["tx"]["duplicated"] == told[1]["tx"]["packets"] == 1

    subnet.ibemu("fault", "reset")
    assert subnet.ibemu("fault", "ls").stdout.split() == head.split()
    assert json.loads(subnet.ibemu("fault", "ls", "--json").stdout) == []


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
    ("add link node-1/1 loss 5% attr PortInfo",
     '"attr" is not there yet: a fault concerns every packet'),
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
