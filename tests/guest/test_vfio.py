"""ibemu's own driver of a ConnectX-3, over the VFIO of a real kernel."""

import re

from mlx4_guest import FUNCTION, port_guid

PROBE = f"ibemu hca-probe pci={FUNCTION}"
IOMMU = {"machine": ["-machine", "q35", "-device", "intel-iommu,intremap=off"],
         "append": "intel_iommu=on"}
VFIO = ["vfio-pci", "vfio_iommu_type1"]


def refusal(guest, command):
    result = guest.run(command, check=False)
    assert result.status == 1, result
    return result.output


def follow(guest, text, number):
    """Does what a refusal says: its commands are in quotes."""
    command = re.findall(r'"([^"]+)"', text)[number]
    modprobe = ("modprobe() { for m in $(cat /modules/$1.list); do"
                " insmod /modules/$m 2>/dev/null; done; true; }; ")
    guest.say(modprobe + command)


def pinned_pages(guest):
    """How many pages the kernel keeps in place for devices."""
    # Processors keep some of what they counted to themselves until asked.
    text = guest.say("echo 1 > /proc/sys/vm/stat_refresh;"
                     " grep nr_foll_pin /proc/vmstat")
    counts = dict(line.split() for line in text.splitlines())
    return (int(counts["nr_foll_pin_acquired"])
            - int(counts["nr_foll_pin_released"]))


def hold(guest):
    """Leaves a program with the adapter; what it said before."""
    guest.say(f"guest-mlx4-client {FUNCTION} > /tmp/client 2>&1 &"
              " echo $! > /tmp/pid")
    guest.until("grep holding /tmp/client || ! kill -0 $(cat /tmp/pid)")
    return dict(line.partition(" ")[::2] for line in
                guest.say("cat /tmp/client").splitlines())


def kill(guest):
    guest.say("kill -9 $(cat /tmp/pid)")
    guest.until("! kill -0 $(cat /tmp/pid)")


def test_the_driver_over_vfio_and_what_helps_to_get_there(
        fabric, plug, build, stripped):
    lab = fabric("single-switch:hosts=2", sm="none")
    with plug(lab, "node-2", modules=["mlx4_core", *VFIO],
              programs=[stripped("daemon/ibemu"),
                        stripped("tests/guest/guest-mlx4-client")],
              memory="512M", **IOMMU) as guest:
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
              programs=[stripped("daemon/ibemu")], qemu=str(qemu),
              machine=[*IOMMU["machine"],
                       "-device", "pcie-pci-bridge,id=bridge,addr=11.0",
                       "-device", "e1000,bus=bridge,addr=2"],
              append=IOMMU["append"]) as guest:
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
              programs=[stripped("daemon/ibemu")]) as guest:
        text = refusal(guest, PROBE)
        assert f"{FUNCTION}: in no IOMMU group" in text
        assert "intel_iommu=on" in text and "access=sysfs" in text
        guest.say("echo 16 > /proc/sys/vm/nr_hugepages")
        text = guest.say(PROBE + " access=sysfs")
        assert "firmware 2.42.5000" in text


DAEMON = f"ibemud --backend=hca pci={FUNCTION} --socket=/tmp/ibemud.sock"
RUN = "ibemu run --fabric=/tmp/ibemud.sock -- "


def start_daemon(guest):
    guest.say(f"{DAEMON} > /tmp/ibemud 2>&1 & echo $! > /tmp/pid")
    guest.until("grep ready /tmp/ibemud || ! kill -0 $(cat /tmp/pid)")
    said = guest.say("cat /tmp/ibemud")
    assert "ready" in said, said
    return said


def test_ibemud_serves_programs_over_vfio(fabric, plug, stripped):
    lab = fabric("back-to-back", sm="none")
    with plug(lab, "node-2", modules=["fuse", "overlay", *VFIO],
              programs=["ibstat", "smpquery",
                        *map(stripped, ("daemon/ibemu", "daemon/ibemud"))],
              memory="768M", **IOMMU) as guest:
        guest.load("vfio_iommu_type1")
        guest.load("fuse")
        guest.load("overlay")
        guest.say("echo 1 > /sys/module/vfio_iommu_type1/parameters/"
                  "allow_unsafe_interrupts")
        follow(guest, refusal(guest, PROBE), 0)
        assert "note:" not in start_daemon(guest)
        assert pinned_pages(guest) > 0
        status = guest.say("ibemu status --fabric=/tmp/ibemud.sock")
        assert re.search(rf"adapter +{FUNCTION}", status)

        # Wired to a node of the simulated subnet, which configures it.
        here = port_guid(guest.say(RUN + "smpquery -D nodeinfo 0"))
        there = port_guid(guest.say(RUN + "smpquery -D nodeinfo 0,1"))
        ask = ("node-1", "smpquery", "-D", "nodeinfo")
        assert port_guid(lab.run(*ask, "0").stdout) == there != here
        assert port_guid(lab.run(*ask, "0,1").stdout) == here
        assert "State: Initializing" in guest.say(RUN + "ibstat")
        lab.start_opensm("node-1")
        guest.until(RUN + "ibstat | grep 'State: Active'")

        guest.say("kill $(cat /tmp/pid)")
        guest.until("! kill -0 $(cat /tmp/pid)")
        assert pinned_pages(guest) == 0
        guest.say(f"echo > /sys/bus/pci/devices/{FUNCTION}/reset_method")
        assert "owner was killed" not in start_daemon(guest)
        kill(guest)
        assert pinned_pages(guest) == 0
        assert "owner was killed" in start_daemon(guest)
        assert port_guid(guest.say(RUN + "smpquery -D nodeinfo 0")) == here
        words = guest.off()
    assert int(re.search(r"faults (\d+)", words)[1]) == 0
