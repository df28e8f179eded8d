"""The way between a guest and a device model, by a device made for that."""

import re

import pytest

FUNCTION = "/sys/bus/pci/devices/0000:00:10.0"
# Memory that is nobody's, so that /dev/mem lets it be looked at.
BUFFER = 0x10000000
RESERVE = f"memmap=1M${BUFFER:#x}"


@pytest.fixture
def launcher(build):
    return [build / "tests/guest/guest-test-device"]


def counters(words):
    """The device's last words."""
    line = re.search(r"guest-test-device: (config .*)", words).group(1)
    fields = line.split()
    return dict(zip(fields[::2], map(int, fields[1::2])))


class Registers:
    """The device's BARs, by devmem."""

    def __init__(self, guest):
        self._guest = guest
        lines = guest.say(f"cat {FUNCTION}/resource").splitlines()
        self.bar = [int(line.split()[0], 16) for line in lines[:6]]
        self.size = [int(line.split()[1], 16) - int(line.split()[0], 16) + 1
                     for line in lines[:6] if int(line.split()[1], 16)]

    def get(self, offset, bar=0, bits=32):
        text = self._guest.say(f"devmem {self.bar[bar] + offset:#x} {bits}")
        return int(text, 16)

    def set(self, offset, value, bar=0, bits=32):
        self._guest.say(
            f"devmem {self.bar[bar] + offset:#x} {bits} {value:#x}")


def test_linux_finds_the_function_and_its_registers(boot, launcher):
    with boot(launcher) as guest:
        assert guest.say(f"cat {FUNCTION}/vendor") == "0x15b3"
        assert guest.say(f"cat {FUNCTION}/device") == "0x1003"
        assert guest.say(f"cat {FUNCTION}/class") == "0x028000"
        registers = Registers(guest)
        assert registers.size == [1 << 20, 8 << 20]
        guest.say(f"echo 1 > {FUNCTION}/enable")
        assert registers.get(0) == 0x1be31003
        registers.set(4, 0xcafe0042)
        assert registers.get(4) == 0xcafe0042
        # A doorbell arrives whole, smaller writes as what they are.
        for bits, value in ((64, 0x1122334455667788), (32, 0x99), (8, 0x7f)):
            registers.set(0x20, value, bar=2, bits=bits)
            assert registers.get(8, bar=2) == bits // 8
            assert registers.get(16, bar=2, bits=64) == value
        guest.check_signs()
        seen = counters(guest.off())
    assert seen["bar"] >= 12
    assert seen["stray"] == 0


def test_the_device_reaches_the_guests_memory_as_bus_master(boot, launcher):
    with boot(launcher, append=RESERVE) as guest:
        registers = Registers(guest)
        guest.say(f"echo 1 > {FUNCTION}/enable")
        guest.say(f"devmem {BUFFER + 4:#x} 32 0x5eed")
        registers.set(0x10, BUFFER + 4, bits=64)

        registers.set(0x1c, 1)
        assert registers.get(0x20) == 2, "it is not bus master"
        # The command register's byte, by configuration space.
        guest.say(f"printf '\\006' | dd of={FUNCTION}/config bs=1 seek=4"
                  " conv=notrunc")
        registers.set(0x1c, 1)
        assert registers.get(0x20) == 1
        assert registers.get(0x18) == 0x5eed

        registers.set(0x18, 0xfeedbeef)
        registers.set(0x10, BUFFER + 8, bits=64)
        registers.set(0x1c, 2)
        assert registers.get(0x20) == 1
        assert int(guest.say(f"devmem {BUFFER + 8:#x} 32"), 16) == 0xfeedbeef

        registers.set(0x10, 0x7700001000, bits=64)
        registers.set(0x1c, 2)
        assert registers.get(0x20) == 2, "there is no memory"
        seen = counters(guest.off())
    assert seen["faults"] == 1


def test_a_user_space_driver_gets_memory_by_iommu_and_interrupts(
        boot, launcher, build):
    with boot(launcher,
              machine=["-machine", "q35", "-device",
                       "intel-iommu,intremap=off"],
              append="intel_iommu=on",
              modules=["vfio-pci", "vfio_iommu_type1"],
              programs=[str(build / "tests/guest/guest-vfio-client")]) as guest:
        guest.load("vfio_iommu_type1")
        guest.load("vfio-pci")
        guest.say("echo 1 > /sys/module/vfio_iommu_type1/parameters/"
                  "allow_unsafe_interrupts")
        guest.say("echo 15b3 1003 > /sys/bus/pci/drivers/vfio-pci/new_id")
        said = dict(line.split() for line in guest.say(
            "guest-vfio-client 0000:00:10.0").splitlines())
        assert said == {
            "bar0": "1048576", "id": "0x1be31003",
            "before": "fault", "read": "done", "data": "0x5eed",
            "write": "done", "memory": "0xfeed",
            "beyond": "fault", "after": "fault",
            "vector0": "1", "vector1": "1", "vector2": "1", "vector3": "1",
        }
        seen = counters(guest.off())
    assert seen["interrupts"] == 4
    assert seen["faults"] == 3
    assert seen["stray"] == 0


def test_more_processors_than_one_are_refused(boot, launcher):
    with pytest.raises(AssertionError, match="use -smp 1"):
        boot(launcher, machine=["-smp", "2"]).__enter__()
