"""Clients that mean harm, and the bounds of the units."""

import pathlib
import re
from signal import SIGKILL

import pytest

from c_programs import compiled
from harness import ROOT, until
from test_crash import was_restarted

VERBS = ROOT / "tests/e2e/verbs"
FIFO_SWAP = ROOT / "tests/uml/guest/fifo_swap.c"
THREADS = 6
SPARE = 48 << 10  # KiB that a daemon may keep of what all this took
AT_ONCE = 256 << 10  # KiB that unfinished writes of a user may take
PROMPT = 240  # seconds for what takes a moment: the processor is emulated


@pytest.fixture
def begin_writes(cable, scratch):
    def begin(account, device, threads):
        program = compiled(VERBS / "long_writes.c", scratch)
        return cable.background(program, f"/dev/infiniband/{device}", threads,
                                account=account)
    return begin


# Who may open it: verbs are for everybody.
@pytest.mark.parametrize("device, who", [("umad0", "member"),
                                         ("uverbs0", "plain")])
def test_writes_that_break_off_leave_nothing_behind(cable, begin_writes, request,
                                                    device, who):
    """The others of a user are served, and the unit's bound is far away."""
    def memory(what):
        status = pathlib.Path(f"/proc/{cable.show('MainPID')}/status")
        return int(re.search(rf"{what}:\s+(\d+)", status.read_text())[1])

    account = request.getfixturevalue(who)
    before = memory("VmRSS")
    client = begin_writes(account, device, THREADS)
    client.wait_for("^idle$")
    assert "whole" not in client.output
    until(lambda: memory("VmRSS") < before + SPARE)
    assert memory("VmHWM") < before + AT_ONCE + SPARE
    assert "State: Active" in account.run("ibstat", "ibemu1").stdout
    assert active_ports(account) == 2
    assert cable.show("NRestarts") == "0"


def test_a_daemon_that_takes_more_than_its_unit_allows_is_started_again(
        cable, begin_writes, member):
    cable.change("MemoryMax=64M", "MemorySwapMax=0")
    cable.systemctl("restart", "ibemud")
    client = begin_writes(member, "umad0", 1)
    client.wait_for("^idle$")
    assert "whole" not in client.output
    assert was_restarted(cable)
    assert "oom-kill" in cable.root.run("journalctl", "--unit=ibemud",
                                        "--output=cat").stdout


def active_ports(account):
    told = account.run("ibv_devinfo", timeout=PROMPT).stdout
    return told.count("PORT_ACTIVE")


def test_fifos_in_place_of_devices_hold_up_nobody_else(cable, plain, scratch):
    """Who gives a client its descriptors makes it open what it wrote to."""
    fifo = plain.home / "fifo"
    plain.run("mkfifo", fifo)
    held = cable.background(compiled(FIFO_SWAP, scratch), fifo, account=plain)
    held.wait_for("^held$")
    assert active_ports(cable.root) == 2
    held.stop(SIGKILL)
    assert active_ports(plain) == 2
    assert cable.show("NRestarts") == "0"


@pytest.fixture
def held_up(cable, plain, scratch):
    """A client of a plain user with pages that never come."""
    def start(way):
        never = plain.home / "never"
        plain.run("mkdir", never)
        return cable.background(
            "timeout", "-s", "KILL", PROMPT,
            compiled(VERBS / "held_up.c", scratch), way, never, account=plain)
    return start


def test_pages_of_one_user_that_never_come_fail_nobody_elses_verbs(cable, held_up):
    held_up("answers").wait_for("^held$")
    assert active_ports(cable.root) == 2
    assert cable.show("NRestarts") == "0"


@pytest.mark.parametrize("what", ["command", "answer"])
def test_a_command_that_is_held_up_holds_up_no_other(held_up, what):
    """Not in the same process, and not of the same open file."""
    client = held_up(what)
    client.wait_for("^answered$")
    assert client.wait() == 0
