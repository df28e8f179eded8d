"""What adapters look like here if nobody says --profile."""

import dataclasses
import pathlib


@dataclasses.dataclass(frozen=True)
class Profile:
    name: str
    provider: str  # of libibverbs
    vendor: int  # of the PCI function
    device: int  # there, and the vendor_part_id of verbs
    kind: str  # as hwloc calls the class of the PCI function

    @property
    def driven(self):
        """Whether libibverbs has the provider."""
        return pathlib.Path(
            f"/etc/libibverbs.d/{self.provider}.driver").exists()


QIB = Profile("qib", "ipathverbs", 0x1077, 0x7322, "InfiniBand")
HFI1 = Profile("hfi1", "hfi1verbs", 0x8086, 0x24f0, "Fabric")


def usual():
    """tools/without_ipathverbs makes a machine for the second one."""
    return QIB if QIB.driven else HFI1
