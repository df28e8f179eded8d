"""What the tests of a modelled ConnectX-3 do in the guest that drives it."""

import re
import typing

MODULES = ["mlx4_core", "mlx4_ib", "ib_umad", "ib_uverbs", "ib_ipoib", "e1000"]
PROGRAMS = ["ibstat", "smpquery", "ibnetdiscover", "opensm", "sminfo",
            "perfquery", "ibv_devinfo", "ibv_rc_pingpong",
            "ibv_uc_pingpong"]
# A sweep of an emulated one that has the patience a busy machine asks for: ms
# per answer, which is lost after four times that.
OPENSM = "opensm --once --timeout 5000"
# A way to this machine's own network, for what programs agree on beforehand.
NETWORK = ["-netdev", "user,id=net", "-device", "e1000,netdev=net"]
THIS_MACHINE = "10.0.2.2"
FUNCTION = "0000:00:10.0"
CLASS = "/sys/class/infiniband/mlx4_0"
DRIVER = "/sys/bus/pci/drivers/mlx4_core"


def load(guest):
    """The drivers, so that /dev/infiniband is there."""
    for module in ("mlx4_core", "mlx4_ib", "ib_umad", "ib_uverbs"):
        guest.load(module)
    guest.until(f"[ -e {CLASS}/ports/1/state ] && [ -e /dev/infiniband/umad0 ]"
                " && [ -e /dev/infiniband/uverbs0 ]")


def connect(guest):
    """To NETWORK."""
    guest.load("e1000")
    guest.say("ip addr add 10.0.2.15/24 dev eth0 && ip link set eth0 up")


class Turns(typing.NamedTuple):
    """How often queues were gone around that were used at all."""

    queues: int
    least: float
    most: float


def turns(words):
    """By the launcher's last words: of each kind ("eq", "cq", "sq", "rq",
    "srq") and size."""
    found = {}
    for line in re.finditer(r"(\w+) size (\d+) queues (\d+) least (\d+)"
                            r" most (\d+)", words):
        size, queues, least, most = map(int, line.groups()[1:])
        found[line[1], size] = Turns(queues, least / size, most / size)
    return found


def port_guid(node_info):
    """Of what smpquery says."""
    return re.search(r"^PortGuid:\.+(0x\w+)", node_info, re.MULTILINE)[1]
