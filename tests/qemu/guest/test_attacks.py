"""Clients that mean harm, and the bounds of the units."""

import pathlib
import re

from harness import until
from test_crash import was_restarted

PROGRAM = pathlib.Path(__file__).with_name("long_writes.py")
THREADS = 6
SPARE = 48 << 10  # KiB that a daemon may keep of what all this took
AT_ONCE = 256 << 10  # KiB that unfinished writes of a user may take


def begin_writes(service, member, threads):
    return service.background("/usr/bin/python3", PROGRAM,
                              "/dev/infiniband/umad0", threads, account=member)


def test_writes_that_break_off_leave_nothing_behind(cable, member):
    """The others of a user are served, and the unit's bound is far away."""
    def memory(what):
        status = pathlib.Path(f"/proc/{cable.show('MainPID')}/status")
        return int(re.search(rf"{what}:\s+(\d+)", status.read_text())[1])

    before = memory("VmRSS")
    client = begin_writes(cable, member, THREADS)
    client.wait_for("^idle$")
    assert "whole" not in client.output
    until(lambda: memory("VmRSS") < before + SPARE)
    assert memory("VmHWM") < before + AT_ONCE + SPARE
    assert "State: Active" in member.run("ibstat", "ibemu1").stdout
    assert cable.show("NRestarts") == "0"


def test_a_daemon_that_takes_more_than_its_unit_allows_is_started_again(
        cable, member):
    cable.change("MemoryMax=64M", "MemorySwapMax=0")
    cable.systemctl("restart", "ibemud")
    client = begin_writes(cable, member, 1)
    client.wait_for("^idle$")
    assert "whole" not in client.output
    assert was_restarted(cable)
    assert "oom-kill" in cable.root.run("journalctl", "--unit=ibemud",
                                        "--output=cat").stdout
