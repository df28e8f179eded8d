"""A daemon with --journal goes on where the last one ended, however it did."""

import contextlib
import json
import shutil
import signal
import sqlite3
import tempfile

import pytest

import netdiscover
from harness import until

TOPOLOGY = "fat-tree:radix=4,levels=2"


@pytest.fixture
def journal(account):
    return account.home / "lab.journal"


@pytest.fixture
def start(fabric, journal):
    """Starts a daemon with the journal."""
    return lambda sm="none": fabric(TOPOLOGY, sm=sm,
                                    options=[f"--journal={journal}"])


def kill(lab):
    lab.daemon.stop(signal.SIGKILL)


def lids(lab):
    """By the GUID of a node, those of all its ports that have one."""
    return {node["guid"]: [port["lid"] for port in node["ports"]]
            for node in json.loads(lab.ibemu("nodes", "--json").stdout)}


def discovered(lab, host):
    return netdiscover.parse(lab.run(host, "ibnetdiscover").stdout)


def read_lids(journal):
    """Those in a copy of the journal, which its daemon has for itself."""
    with tempfile.TemporaryDirectory() as folder:
        for file in journal.parent.glob(f"{journal.name}*"):
            shutil.copy(file, folder)
        with contextlib.closing(sqlite3.connect(f"{folder}/{journal.name}")) as copy:
            rows = copy.execute("SELECT lid FROM port WHERE lid > 0 ORDER BY lid")
            return [lid for [lid] in rows]


def without_counts(faults):
    return [{name: fault[name] for name in
             ("name", "node", "port", "dir", "what", "seed")} for fault in faults]


def test_what_was_done_to_a_subnet_is_there_again(start):
    lab = start()
    lab.ibemu("link", "node-1/1", "down")
    lab.ibemu("node", "node-8", "down")
    lab.ibemu("console", input='Unlink "node-2"[1]\nUnlink "node-3"[1]\n'
                               'Guid "node-4" 0x4711\n')
    lab.ibemu("fault", "add", "--name=lossy", "link", "node-5/1", "loss", "5%",
              "seed", "7")
    lab.ibemu("fault", "add", "--name=slow", "node", "leaf-1", "slow", "1ms")
    lab.ibemu("fault", "add", "--name=gone", "node", "leaf-1", "loss", "1%")
    lab.ibemu("fault", "rm", "gone")
    before = discovered(lab, "node-5")
    faults = without_counts(lab.faults())
    assert [fault["name"] for fault in faults] == ["lossy", "slow"]
    seed = json.loads(lab.ibemu("status", "--json").stdout)["seed"]
    kill(lab)
    again = start()
    assert discovered(again, "node-5") == before
    assert "0000000000004711" in str(before)
    assert without_counts(again.faults()) == faults
    assert json.loads(again.ibemu("status", "--json").stdout)["seed"] == seed
    # What is undone is no more there than what was never done.
    again.ibemu("link", "node-1/1", "up")
    again.ibemu("fault", "reset")
    kill(again)
    third = start()
    assert len(discovered(third, "node-5")[0]) == len(before[0]) + 1
    assert third.faults() == []


def test_a_port_that_was_disabled_stays_so_until_somebody_enables_it(start):
    # By a directed route: to the leaf of node-5, at whose port 2 is node-6.
    def portstate(lab, *operation):
        return lab.run("node-5", "ibportstate", "-D", "0,1", "2", *operation).stdout

    lab = start("builtin")
    until(lambda: 0 not in sum(lids(lab).values(), []))
    portstate(lab, "disable")
    until(lambda: "PhysLinkState:...................Disabled" in portstate(lab))
    kill(lab)
    again = start("builtin")
    assert "PhysLinkState:...................Disabled" in portstate(again)
    assert '"node-6"' not in str(discovered(again, "node-5"))
    portstate(again, "enable")
    until(lambda: "LinkState:.......................Active" in portstate(again))
    kill(again)
    assert "PhysLinkState:...................LinkUp" in portstate(start())


def test_a_subnet_manager_inside_it_keeps_its_lids(start, journal):
    lab = start("builtin")
    lab.ibemu("console", input='Baselid "node-3"[1] 100\n')
    until(lambda: 100 in sum(lids(lab).values(), []))
    until(lambda: 0 not in sum(lids(lab).values(), []))
    before = lids(lab)
    until(lambda: read_lids(journal) == sorted(sum(before.values(), [])))
    kill(lab)
    assert lids(start("builtin")) == before


def test_opensm_keeps_its_lids(start, journal):
    lab = start()
    lab.start_opensm("node-2")
    before = lids(lab)
    assert 0 not in sum(before.values(), [])

    # They are written when it is quiet; the daemon says nothing of it.
    until(lambda: read_lids(journal) == sorted(sum(before.values(), [])))
    kill(lab)
    again = start()
    assert lids(again) == before
    # Elsewhere, and with an empty memory of its own.
    again.start_opensm("node-5")
    assert lids(again) == before


def test_another_seed_takes_the_place_of_the_journals(fabric, journal):
    options = [f"--journal={journal}"]
    for seed in (7, 8):
        lab = fabric(TOPOLOGY, sm="none", options=[*options, f"--seed={seed}"])
        assert json.loads(lab.ibemu("status", "--json").stdout)["seed"] == seed
        kill(lab)
    lab = fabric(TOPOLOGY, sm="none", options=options)
    assert json.loads(lab.ibemu("status", "--json").stdout)["seed"] == 8


def test_status_says_where_the_journal_is(start, journal):
    lab = start()
    assert f"journal   {journal}\n" in lab.ibemu("status").stdout


def refused(account, *options):
    """What an ibemud says that does not start."""
    result = account.run("ibemud", f"--socket={account.home}/refused.sock",
                         *options, check=False)
    assert result.returncode == 1, result.stderr
    return result.stderr


def test_a_second_daemon_does_not_get_the_journal(start, account, journal):
    start()
    assert refused(account, f"--topology={TOPOLOGY}", f"--journal={journal}") == (
        f"{journal}: another program has it open: an ibemud has its journal for "
        "itself\n")


def test_a_journal_is_of_one_topology(start, account, journal):
    kill(start())
    before = journal.read_bytes()
    said = refused(account, "--topology=single-switch:hosts=3",
                   f"--journal={journal}")
    assert said == (f"{journal}: it is the journal of another topology, "
                    f"--topology={TOPOLOGY}: start with that one, or name a file "
                    "that is not there\n")
    assert journal.read_bytes() == before


def test_what_is_no_journal_is_left_as_it_is(account):
    text = account.home / "text"
    text.write_text("precious")
    said = refused(account, "--topology=back-to-back", f"--journal={text}")
    assert said.startswith(f"{text}: it is no journal of ibemud")
    assert text.read_text() == "precious"
    said = refused(account, "--topology=back-to-back",
                   f"--journal={account.home}/no/such/folder")
    assert "No such file or directory" in said
