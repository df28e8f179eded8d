"""Clients of a whole machine's devices that mean harm; `attacks` in tools/dev
are end-to-end tests that run here, too."""

import os
import pathlib
import signal

import pytest

from c_programs import compiled

HERE = pathlib.Path(__file__).parent
HELD_UP = HERE.parents[1] / "e2e/verbs/held_up.c"
USER = 12346
AS_USER = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups",
           "--inh-caps=-all", "--"]
PROMPT = 60  # seconds for what takes a moment


@pytest.fixture
def cable(system):
    """Two adapters whose verbs are for everybody, as FUSE is: udev's rules."""
    made = system("back-to-back", ["node-1", "node-2"], "--sm=static")
    for node in ("fuse", "infiniband/uverbs0", "infiniband/uverbs1"):
        os.chmod(f"/dev/{node}", 0o666)
    return made


def active_ports(cable, *prefix):
    told = cable.run(*prefix, "ibv_devinfo", timeout=PROMPT).stdout
    return told.count("PORT_ACTIVE")


@pytest.mark.deep
def test_fifos_in_place_of_devices_hold_up_nobody_else(cable, scratch):
    """Who gives a client its descriptors makes it open what it wrote to."""
    fifo = scratch / "fifo"
    os.mkfifo(fifo)
    os.chown(fifo, USER, USER)
    held = cable.start(*AS_USER, compiled(HERE / "fifo_swap.c", scratch),
                       fifo)
    held.wait_for("^held$")
    assert active_ports(cable) == 2
    held.stop(signal.SIGKILL)
    assert active_ports(cable, *AS_USER) == 2


@pytest.mark.deep
def test_pages_of_one_user_that_never_come_fail_nobody_elses_verbs(
        cable, scratch):
    never = scratch / "never"
    never.mkdir()
    os.chown(never, USER, USER)
    held = cable.start(*AS_USER, compiled(HELD_UP, scratch), "answers",
                       never)
    held.wait_for("^held$")
    assert active_ports(cable) == 2
