"""Podman, with all that it keeps in one directory."""

import ctypes
import dataclasses
import os
import pathlib

from harness import Account

CLONE_NEWNS = 0x20000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
GROUPS = pathlib.Path("/sys/fs/cgroup")
# Nobody has made control groups for podman, so it does without; and the limits
# are low, for root without CAP_SYS_RESOURCE may not raise them.
CONTAINERS = """\
[containers]
cgroups = "disabled"
default_ulimits = ["nofile=1024:4096", "nproc=4096:4096"]
[network]
network_config_dir = "{place}/networks"
[engine]
runtime = "crun"
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "{place}/tmp"
volume_path = "{place}/volumes"
"""
STORAGE = """\
[storage]
driver = "overlay"
graphroot = "{place}/storage"
runroot = "{place}/state"
"""
# What docs/containers.md says that a container with devices needs, and the part
# of it without which there are none.
ALLOWED = ["--device=/dev/fuse", "--cap-add=SYS_ADMIN,SYS_PTRACE"]
LEAST = ALLOWED[:1]


def enter():
    """Mounts of its own for the calling process and what it starts.  crun wants
    control groups of one version, and some machines have both."""
    libc = ctypes.CDLL(None, use_errno=True)

    def check(result):
        if result != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    check(libc.unshare(CLONE_NEWNS))
    check(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))
    second = GROUPS / "unified"
    if second.exists():
        check(libc.mount(bytes(second), bytes(GROUPS), None, MS_BIND, None))


@dataclasses.dataclass
class Podman(Account):
    """Root, whose podman and podman-compose know these containers alone."""

    def __post_init__(self):
        (self.home / "containers.conf").write_text(
            CONTAINERS.format(place=self.home))
        (self.home / "storage.conf").write_text(STORAGE.format(place=self.home))

    @property
    def environment(self):
        return {**super().environment,
                "CONTAINERS_CONF": str(self.home / "containers.conf"),
                "CONTAINERS_STORAGE_CONF": str(self.home / "storage.conf")}

    def podman(self, *arguments, **options):
        return self.run("podman", *arguments, **options)
