"""Calls that a client keeps from getting on hold up nobody else's."""

import os
import pathlib
import platform
import re
import select

import pytest

from c_programs import compiled
from harness import until

pytestmark = pytest.mark.both_accounts

HERE = pathlib.Path(__file__).parent
USER = 12346
PROMPT = 60  # seconds for what takes a moment
LINUX = tuple(int(part) for part in re.match(
    r"(\d+)\.(\d+)", platform.release()).groups())


@pytest.fixture(scope="module")
def held_up(scratch):
    return compiled(HERE / "held_up.c", scratch)


def supervisors_of(launcher):
    """pidfds of the processes that answer the stopped calls of a run."""
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, rest = entry.read_text().split(" (ibemu-nodes) ")
        except (ValueError, OSError):
            continue
        if int(rest.split()[1]) == launcher:
            yield os.pidfd_open(int(pid))


def ends_in_time(pid_fd):
    poller = select.poll()
    poller.register(pid_fd, select.POLLIN)
    return bool(poller.poll(PROMPT * 1000))


def test_pages_that_never_come_hold_up_nobody_else(account, background,
                                                   held_up):
    """More threads than ever wait, and the supervisor ends with the run."""
    never = account.home / "never"
    account.run("mkdir", never)
    run = background(
        "ibemu", "run", "--", "sh", "-c",
        f"{held_up} pages {never} & "
        f"until test -e go; do sleep 0.1; done; "
        f"timeout {PROMPT} ibv_devinfo; echo status=$?; kill -9 $!")
    run.wait_for("^held$")
    supervisor, = supervisors_of(run.process.pid)
    (account.home / "go").touch()
    assert run.wait_for(r"status=(\d+)")[1] == "0", run.output
    assert "PORT_ACTIVE" in run.output
    assert run.wait(PROMPT) == 0
    assert ends_in_time(supervisor)


@pytest.mark.deep
@pytest.mark.parametrize("account", ["root"], indirect=True)
def test_pages_of_one_user_that_never_come_fail_nobody_elses_verbs(
        account, background, held_up, scratch):
    never = scratch / "never"
    never.mkdir()
    os.chown(never, USER, USER)
    as_user = (f"setpriv --reuid={USER} --regid={USER} --clear-groups "
               "--inh-caps=-all --")
    run = background("ibemu", "run", "--", "sh", "-c",
                     f"{as_user} {held_up} answers {never} & "
                     f"until test -e go; do sleep 0.1; done; "
                     f"timeout {PROMPT} ibv_devinfo; echo status=$?; kill -9 $!")
    run.wait_for("^held$")
    (account.home / "go").touch()
    assert run.wait_for(r"status=(\d+)")[1] == "0", run.output
    assert "PORT_ACTIVE" in run.output


@pytest.mark.skipif(LINUX < (6, 2), reason="its writers take turns")
@pytest.mark.parametrize("what", ["command", "answer"])
def test_a_command_that_is_held_up_holds_up_no_other(account, background,
                                                     held_up, what):
    """Not in the same process, and not of the same open file."""
    never = account.home / "never"
    account.run("mkdir", never)
    run = background("ibemu", "run", "--", "timeout", "-s", "KILL", PROMPT,
                     held_up, what, never)
    run.wait_for("^held$")
    run.wait_for("^answered$")
    assert run.wait(PROMPT) == 0


@pytest.mark.plain_account
def test_a_fifo_in_place_of_the_device_holds_up_nobody(account, background,
                                                       held_up):
    fifo = account.home / "fifo"
    account.run("mkfifo", fifo)
    run = background("ibemu", "run", "--", "timeout", PROMPT, held_up, "swap",
                     fifo)
    supervisor = until(lambda: next(supervisors_of(run.process.pid), None))
    run.wait_for("^done$")
    assert run.wait(PROMPT) == 0
    assert ends_in_time(supervisor)
