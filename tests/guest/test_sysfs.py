"""ibemu's own driver of a ConnectX-3 where there is no IOMMU: over the files of
its function in sysfs, with memory in huge pages, and without interrupts."""

import re

import pytest

from ibemud_guest import MODULES, RUN, end, join, kill, start_daemon
from mlx4_guest import FUNCTION, port_guid

WORDS = f"pci={FUNCTION} access=sysfs"
PROBE = f"ibemu hca-probe {WORDS}"


def free_huge_pages(guest):
    return int(guest.say("grep HugePages_Free /proc/meminfo").split()[1])


def is_master(guest):
    """Whether the adapter may reach memory: bit 2 of its command register."""
    return int(guest.say("hexdump -s 4 -n 1 -e '\"%d\"'"
                         f" /sys/bus/pci/devices/{FUNCTION}/config")) & 4 != 0


@pytest.fixture
def lab(fabric):
    return fabric("back-to-back", sm="none")


@pytest.fixture
def machine(lab, plug, stripped):
    """A guest that can run ibemud."""
    return plug(lab, "node-2", modules=MODULES,
                programs=["ibstat", "smpquery",
                          *map(stripped, ("cli/ibemu", "cli/ibemud"))],
                memory="768M")


def test_ibemud_serves_programs_over_sysfs(lab, machine):
    with machine as guest:
        refused = guest.run(PROBE, check=False)
        assert "access=sysfs needs huge pages" in refused.output
        guest.say(re.search(r'"(echo [^"]+)"', refused.output)[1])
        said = start_daemon(guest, WORDS)
        assert "no interrupts: the queues are polled\n" in said

        join(guest, lab)
        words = guest.off()
    # Whatever the adapter read and wrote was memory.
    assert int(re.search(r"faults (\d+)", words)[1]) == 0
    assert int(re.search(r"stray (\d+)", words)[1]) == 0


def test_the_adapter_outlives_an_ibemud_that_is_killed(lab, machine):
    with machine as guest:
        guest.say("echo 64 > /proc/sys/vm/nr_hugepages")
        pages = free_huge_pages(guest)
        assert "owner was killed" not in start_daemon(guest, WORDS)
        assert free_huge_pages(guest) < pages
        refused = guest.run(PROBE, check=False)
        assert f"{FUNCTION}: another program drives it" in refused.output
        assert is_master(guest)
        end(guest)
        assert free_huge_pages(guest) == pages
        assert not is_master(guest)
        # A reader that goes away does not end a probe where it stands.
        guest.say(f"{PROBE} | head -n 1")
        assert not is_master(guest)
        full = guest.run(f"{PROBE} > /dev/full", check=False)
        assert full.status == 1
        assert "No space left on device" in full.output
        assert not is_master(guest)
        assert "owner was killed" not in start_daemon(guest, WORDS)
        kill(guest)
        # Memory is taken from the dead, and the adapter is not.
        assert free_huge_pages(guest) == pages
        assert is_master(guest)
        assert "owner was killed" in start_daemon(guest, WORDS)
        ask = ("smpquery", "-D", "nodeinfo")
        here = port_guid(guest.say(RUN + " ".join([*ask, "0"])))
        assert port_guid(lab.run("node-1", *ask, "0,1").stdout) == here
