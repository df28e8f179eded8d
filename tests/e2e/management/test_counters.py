"""ibemu counter: what a port shows to those who watch it."""

import json
import re

import pytest


@pytest.fixture
def subnet(fabric):
    return fabric("single-switch:hosts=3", sm="static")


def test_tools_show_what_was_set(subnet):
    subnet.ibemu("counter", "node-2/1", "SymbolErrorCounter=70000",
                 "LinkDownedCounter=3")
    text = subnet.run("node-1", "perfquery", "2", "1").stdout
    assert re.search(r"SymbolErrorCounter:\.+65535\n", text), "16 bits"
    assert re.search(r"LinkDownedCounter:\.+3\n", text)
    path = "/sys/class/infiniband/ibemu0/ports/1/counters/link_downed"
    assert subnet.run("node-2", "cat", path).stdout == "3\n"
    table = subnet.ibemu("counter", "node-2/1").stdout
    assert re.search(r"(?m)^SymbolErrorCounter +70000$", table)


def test_ibqueryerrors_finds_the_port_that_has_errors(fabric):
    subnet = fabric("single-switch:hosts=3")
    subnet.start_opensm("node-1")
    subnet.ibemu("counter", "node-3/1", "SymbolErrorCounter=123")
    done = subnet.run("node-1", "ibqueryerrors", check=False)
    assert re.search(r"\[SymbolErrorCounter == 123\b", done.stdout)


def test_counters_are_cleared(subnet):
    subnet.run("node-1", "perfquery")
    subnet.ibemu("counter", "node-1/1", "clear", "PortXmitWait=5")
    counters = json.loads(subnet.ibemu("counter", "node-1/1", "--json").stdout)
    assert counters["PortXmitData"] == counters["PortRcvPkts"] == 0
    assert counters["PortXmitWait"] == 5
    subnet.run("node-1", "perfquery", "2", "1")
    counters = json.loads(subnet.ibemu("counter", "node-1/1", "--json").stdout)
    assert counters["PortRcvPkts"] > 0


@pytest.mark.parametrize("arguments, rule", [
    (["node-1/1", "SymbolErors=1"], 'no counter "SymbolErors"'),
    (["node-1/1", "PortXmitWait"], "write NAME=VALUE"),
    (["node-1/2"], "it has ports 1 to 1"),
    (["node-1"], "write NODE/PORT"),
])
def test_mistakes_are_answered_with_one_sentence(subnet, arguments, rule):
    done = subnet.ibemu("counter", *arguments, check=False)
    assert done.returncode == 1
    assert rule in done.stderr
    assert done.stderr.count("\n") == 1
