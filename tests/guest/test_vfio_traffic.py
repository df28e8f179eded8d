"""Management and messages of ibemu's own driver over the VFIO of a real kernel,
which hands the adapter's interrupts on."""

import re

from harness import until
from ibemud_guest import MODULES, RUN, start_daemon
from mlx4_guest import NETWORK, OPENSM, connect
from pingpong import play
from test_vfio import IOMMU, VFIO, WORDS, take_over


def interrupts(guest):
    """How many the adapter has had."""
    lines = guest.say("grep vfio-msix /proc/interrupts").splitlines()
    return sum(int(line.split()[1]) for line in lines)


def test_opensm_and_ping_pong_over_vfio(fabric, plug, stripped):
    lab = fabric("back-to-back", sm="none")
    with plug(lab, "node-2", modules=["e1000", *MODULES, *VFIO],
              programs=["ibstat", "opensm", "ibv_rc_pingpong",
                        *map(stripped, ("cli/ibemu", "cli/ibemud"))],
              memory="768M", machine=[*IOMMU["machine"], *NETWORK],
              append=IOMMU["append"]) as guest:
        take_over(guest)
        connect(guest)
        start_daemon(guest, WORDS)
        until(lambda: "State: Initializing" in
              lab.run("node-1", "ibstat").stdout)
        guest.say(RUN + f"{OPENSM} --log_file /tmp/opensm.log")
        assert "SUBNET UP" in guest.say("cat /tmp/opensm.log")
        guest.until(RUN + "ibstat | grep 'State: Active'")
        assert "State: Active" in lab.run("node-1", "ibstat").stdout

        before = interrupts(guest)
        play(lab, guest, "ibv_rc_pingpong", 100, "-s", "4096", "-c", front=RUN)
        # One may stand for several messages where the guest is slow.
        assert interrupts(guest) > before
        words = guest.off()
    assert int(re.search(r"faults (\d+)", words)[1]) == 0
