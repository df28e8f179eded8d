"""ibemu's own driver of a ConnectX-3, over the VFIO of a real kernel."""

import re

from guest import insert
from ibemud_guest import MODULES, RUN, end, join, kill, start, start_daemon
from mlx4_guest import FUNCTION, port_guid

WORDS = f"pci={FUNCTION}"
PROBE = f"ibemu hca-probe pci={FUNCTION}"
IOMMU = {"machine": ["-machine", "q35", "-device", "intel-iommu,intremap=off"],
         "append": "intel_iommu=on"}
VFIO = ["vfio-pci", "vfio_iommu_type1"]
# What the kernel says of what these tests do to it.
UNSAFE = "vfio_iommu_type1_attach_group: No interrupt remapping support"
NO_RESET = "vfio-pci .*: All device reset methods disabled by user"
HOT_PLUG = "shpchp .*: .* failed"  # another driver has the bridge's slots


def refusal(guest, command):
    result = guest.run(command, check=False)
    assert result.status == 1, result
    return result.output


def follow(guest, text, number):
    """Does what a refusal says: its commands are in quotes."""
    command = re.findall(r'"([^"]+)"', text)[number]
    guest.say(f"modprobe() {{ {insert('$1')}; }}; {command}")


def pinned_pages(guest):
    """How many pages the kernel keeps in place for devices."""
    # Processors keep some of what they counted to themselves until asked.
    text = guest.say("echo 1 > /proc/sys/vm/stat_refresh &&"
                     " grep nr_foll_pin /proc/vmstat")
    counts = dict(line.split() for line in text.splitlines())
    return (int(counts["nr_foll_pin_acquired"])
            - int(counts["nr_foll_pin_released"]))


def hold(guest):
    """Leaves a program with the adapter; what it said before."""
    said = start(guest, f"guest-mlx4-client {FUNCTION}", "holding")
    return dict(line.partition(" ")[::2] for line in said.splitlines())


def test_the_driver_over_vfio_and_what_helps_to_get_there(
        fabric, plug, build, stripped):
    lab = fabric("single-switch:hosts=2", sm="none")
    with plug(lab, "node-2", modules=["mlx4_core", *VFIO],
              programs=[stripped("cli/ibemu"),
                        stripped("tests/guest/guest-mlx4-client")],
              memory="512M", provoked=[UNSAFE, NO_RESET], **IOMMU) as guest:
        guest.load("mlx4_core")
        text = refusal(guest, PROBE)
        assert f"{FUNCTION}: the driver mlx4_core has it" in text
        follow(guest, text, 0)
        text = refusal(guest, PROBE)
        assert f"{FUNCTION}: no driver is bound to it" in text
        follow(guest, text, 0)
        guest.load("vfio_iommu_type1")
        text = refusal(guest, PROBE)
        assert "the IOMMU does not remap interrupts" in text
        follow(guest, text, 0)

        assert pinned_pages(guest) == 0
        for _ in range(2):
            text = guest.say(PROBE)
            assert "ConnectX-3 (15b3:1003)" in text
            assert "firmware 2.42.5000" in text
            assert "note:" not in text
            assert pinned_pages(guest) == 0

        said = hold(guest)
        assert said["mapped"].endswith("BAD_PARAM (0x03)")
        assert said["unmapped"].endswith("INTERNAL_ERR (0x01)")
        assert pinned_pages(guest) > 0
        text = refusal(guest, PROBE)
        assert "another program has the group open" in text
        kill(guest)
        assert pinned_pages(guest) == 0
        # The kernel has reset it.
        assert "note:" not in guest.say(PROBE)

        # As an adapter without a reset of the bus's is left.
        guest.say(f"echo > /sys/bus/pci/devices/{FUNCTION}/reset_method")
        hold(guest)
        kill(guest)
        assert pinned_pages(guest) == 0
        text = guest.say(PROBE)
        assert "note: the adapter's last owner was killed" in text
        assert "firmware 2.42.5000" in text
        assert "note:" not in guest.say(PROBE)
        words = guest.off()
    assert int(re.search(r"faults (\d+)", words)[1]) == 2
    assert int(re.search(r"stray (\d+)", words)[1]) == 0


# As QEMU: puts the adapter behind a bridge, which makes one group of all there.
BEHIND_A_BRIDGE = """#!/bin/sh
for word; do
  shift
  case $word in
    x-pci-proxy-dev,*) word="${word%,addr=*},bus=bridge,addr=1" ;;
  esac
  set -- "$@" "$word"
done
exec qemu-system-x86_64 "$@"
"""


def test_all_functions_of_a_group_have_to_be_given_up(
        fabric, plug, stripped, tmp_path):
    qemu = tmp_path / "qemu"
    qemu.write_text(BEHIND_A_BRIDGE)
    qemu.chmod(0o755)
    lab = fabric("single-switch:hosts=2", sm="none")
    with plug(lab, "node-2", modules=["e1000", *VFIO],
              programs=[stripped("cli/ibemu")], qemu=str(qemu),
              machine=[*IOMMU["machine"],
                       "-device", "pcie-pci-bridge,id=bridge,addr=11.0",
                       "-device", "e1000,bus=bridge,addr=2"],
              append=IOMMU["append"], provoked=[UNSAFE, HOT_PLUG]) as guest:
        guest.load("vfio-pci")
        guest.load("e1000")
        probe = PROBE.replace("00:10.0", "01:01.0")
        follow(guest, refusal(guest, probe), 0)
        text = refusal(guest, probe)
        assert "has 0000:01:02.0, too, which the driver e1000 has" in text
        follow(guest, text, 0)
        guest.load("vfio_iommu_type1")
        # On to the next hurdle.
        assert "does not remap interrupts" in refusal(guest, probe)


def test_without_an_iommu_there_is_the_way_by_sysfs(fabric, plug, stripped):
    lab = fabric("single-switch:hosts=2", sm="none")
    with plug(lab, "node-2", modules=[],
              programs=[stripped("cli/ibemu")]) as guest:
        text = refusal(guest, PROBE)
        assert f"{FUNCTION}: in no IOMMU group" in text
        assert "intel_iommu=on" in text and "access=sysfs" in text
        guest.say("echo 16 > /proc/sys/vm/nr_hugepages")
        text = guest.say(PROBE + " access=sysfs")
        assert "firmware 2.42.5000" in text
        guest.say(f"grep -x 0 /sys/bus/pci/devices/{FUNCTION}/enable")


def take_over(guest):
    """Gives the adapter to vfio-pci."""
    guest.load("vfio_iommu_type1")
    guest.say("echo 1 > /sys/module/vfio_iommu_type1/parameters/"
              "allow_unsafe_interrupts")
    follow(guest, refusal(guest, PROBE), 0)


def test_ibemud_serves_programs_over_vfio(fabric, plug, stripped):
    lab = fabric("back-to-back", sm="none")
    with plug(lab, "node-2", modules=[*MODULES, *VFIO],
              programs=["ibstat", "smpquery",
                        *map(stripped, ("cli/ibemu", "cli/ibemud"))],
              memory="768M", provoked=[NO_RESET], **IOMMU) as guest:
        take_over(guest)
        assert "note:" not in start_daemon(guest, WORDS)
        assert pinned_pages(guest) > 0
        status = guest.say("ibemu status --fabric=/tmp/ibemud.sock")
        assert re.search(rf"adapter +{FUNCTION}", status)

        here = join(guest, lab)

        end(guest)
        assert pinned_pages(guest) == 0
        guest.say(f"echo > /sys/bus/pci/devices/{FUNCTION}/reset_method")
        assert "owner was killed" not in start_daemon(guest, WORDS)
        kill(guest)
        assert pinned_pages(guest) == 0
        assert "owner was killed" in start_daemon(guest, WORDS)
        assert port_guid(guest.say(RUN + "smpquery -D nodeinfo 0")) == here
        words = guest.off()
    assert int(re.search(r"faults (\d+)", words)[1]) == 0
