"""What the tests of a modelled ConnectX-3 do in the guest that drives it."""

import re

MODULES = ["mlx4_core", "mlx4_ib", "ib_umad", "ib_uverbs", "ib_ipoib", "e1000"]
PROGRAMS = ["ibstat", "smpquery", "ibnetdiscover", "opensm", "sminfo",
            "perfquery", "ibv_devinfo", "ibv_rc_pingpong"]
# A way to this machine's own network, for what programs agree on beforehand.
NETWORK = ["-netdev", "user,id=net", "-device", "e1000,netdev=net"]
THIS_MACHINE = "10.0.2.2"
FUNCTION = "0000:00:10.0"
CLASS = "/sys/class/infiniband/mlx4_0"
DRIVER = "/sys/bus/pci/drivers/mlx4_core"
# What the drivers say when something is wrong.
COMPLAINT = re.compile(r"fail|error|timed? ?out|unexpected|invalid",
                       re.IGNORECASE)
DRIVERS = re.compile(r"mlx4|infiniband|\bib_|umad|uverbs|0000:00:10\.0")


def load(guest):
    """The drivers, so that /dev/infiniband is there."""
    for module in ("mlx4_core", "mlx4_ib", "ib_umad", "ib_uverbs"):
        guest.load(module)
    guest.until(f"[ -e {CLASS}/ports/1/state ] && [ -e /dev/infiniband/umad0 ]"
                " && [ -e /dev/infiniband/uverbs0 ]")


def connect(guest):
    """To NETWORK."""
    guest.load("e1000")
    guest.say("ip addr add 10.0.2.15/24 dev eth0; ip link set eth0 up")


def complaints(guest):
    return [line for line in guest.kernel_log().splitlines()
            if DRIVERS.search(line) and COMPLAINT.search(line)]


def state(guest):
    return guest.say(f"cat {CLASS}/ports/1/state").split(": ")[1]


def port_guid(node_info):
    """Of what smpquery says."""
    return re.search(r"^PortGuid:\.+(0x\w+)", node_info, re.MULTILINE)[1]
