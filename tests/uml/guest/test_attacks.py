"""Clients of a whole machine's devices that mean harm; `attacks` in tools/dev
are end-to-end tests that run here, too."""

import os
import pathlib
import signal
import subprocess

import pytest

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


@pytest.fixture(scope="module")
def program(scratch):
    """Makes programs."""
    def make(source, *packages):
        made = scratch / source.stem
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", *packages],
                               check=True, capture_output=True, text=True
                               ).stdout.split() if packages else []
        subprocess.run(["gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread",
                        "-o", made, source, *flags], check=True)
        return made
    return make


def active_ports(cable, *prefix):
    told = cable.run(*prefix, "ibv_devinfo", timeout=PROMPT).stdout
    return told.count("PORT_ACTIVE")


def test_fifos_in_place_of_devices_hold_up_nobody_else(cable, program, scratch):
    """Who gives a client its descriptors makes it open what it wrote to."""
    fifo = scratch / "fifo"
    os.mkfifo(fifo)
    os.chown(fifo, USER, USER)
    held = cable.start(*AS_USER, program(HERE / "fifo_swap.c"), fifo)
    held.wait_for("^held$")
    assert active_ports(cable) == 2
    held.stop(signal.SIGKILL)
    assert active_ports(cable, *AS_USER) == 2


def test_pages_of_one_user_that_never_come_fail_nobody_elses_verbs(
        cable, program, scratch):
    never = scratch / "never"
    never.mkdir()
    os.chown(never, USER, USER)
    held = cable.start(*AS_USER, program(HELD_UP, "fuse3"), "answers", never)
    held.wait_for("^held$")
    assert active_ports(cable) == 2
