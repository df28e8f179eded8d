"""--sm=builtin: its subnet administration, asked by the real programs."""

import re

import pytest

from harness import deep

TREE = "fat-tree:radix=8,levels=2"
HOST = "node-9"


@pytest.fixture
def managed(fabric):
    return fabric(TREE, sm="builtin")


def saquery(subnet, *arguments, **options):
    # Some records are for those who know the SM_Key.
    return subnet.run(HOST, "saquery", "--smkey", "1", *arguments,
                      **options).stdout


def records(text):
    """The records of an answer, each as the lines under its heading, without
    what differs between two managers of the same subnet."""
    parts = re.split(r"(?m)^[\w ]+ dump:.*\n", text)[1:]
    return sorted(re.sub(r"(?i)[ \t]+", " ", part) for part in parts)


@pytest.mark.parametrize("record, count", [
    ("NR", 44), ("PIR", 32 + 12 * 9), ("SWIR", 12), ("LR", 2 * 64),
    ("PKTR", 32 * 4 + 12 * 9), ("VLAR", 4 * (32 + 12 * 9)), ("LFTR", 12),
    ("GIR", 44 * 4), ("SL2VL", 32 + 12 * 81), ("SMIR", 1)])
def test_saquery_reads_all_records_of_a_type(managed, record, count):
    text = saquery(managed, record)
    assert len(records(text)) == count, text[-2000:]


@pytest.mark.parametrize("record", ["MCMR", "SR", "IIR", "MFTR"])
def test_saquery_reads_what_may_be_empty(managed, record):
    saquery(managed, record)


def test_saquery_reads_class_port_info(managed):
    assert re.search(r"Class version\.+2", saquery(managed, "CPI"))


def test_saquery_finds_the_paths_of_a_port_and_between_two(managed):
    paths = saquery(managed, "PR", "--slid=1")
    assert paths.count("PathRecord dump") == 44
    one = saquery(managed, "--src-to-dst", "1:2")
    assert one.count("PathRecord dump") == 1
    assert re.search(r"mtu\.+0x8[45]", one)


def test_records_agree_with_opensm_on_the_same_fabric(managed):
    wanted = ["NR", "SWIR", "LR"]
    ours = {record: records(saquery(managed, record)) for record in wanted}
    opensm = managed.start_opensm("node-1", "--priority", "15")
    opensm.wait_for("Entering MASTER state")
    assert "SMINFO_MASTER" in managed.run(HOST, "sminfo").stdout
    for record in wanted:
        theirs = records(saquery(managed, record))
        assert len(theirs) == len(ours[record])


def osmtest(subnet, inventory, flow):
    log = subnet.account.home / f"osmtest-{flow}.log"  # long: errors on purpose
    return subnet.run(HOST, "osmtest", "-f", flow, "-i", inventory, "-l", log,
                      check=False, timeout=300)


@pytest.mark.parametrize("flow", ["m", "q", *deep("v", "e", "t", "a", "s", "f")])
def test_osmtest_passes(managed, flow):
    inventory = managed.account.home / "osmtest.dat"
    create = osmtest(managed, inventory, "c")
    assert create.returncode == 0, create.stdout[-3000:]
    done = osmtest(managed, inventory, flow)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert "PASS" in done.stdout
