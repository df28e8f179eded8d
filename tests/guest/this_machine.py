"""What this machine has for the guests: QEMU, programs, and what apt says where
QEMU or the kernel can't be had.  Only then may a test be skipped."""

import os
import re
import shutil
import subprocess

PATH = f"/usr/sbin:/usr/bin:/sbin:/bin:{os.environ['PATH']}"
QEMU = "qemu-system-x86_64"
# Whose commands the tests need.
PACKAGES = {
    QEMU: "qemu-system-x86", "busybox": "busybox", "strip": "binutils",
    "gcc": "gcc", "opensm": "opensm", "zstd": "zstd",
    **dict.fromkeys(("ibstat", "smpquery", "ibnetdiscover", "sminfo",
                     "perfquery"), "infiniband-diags"),
    **dict.fromkeys(("ibv_devinfo", "ibv_rc_pingpong"), "ibverbs-utils"),
    **dict.fromkeys(("rping", "ucmatose", "udaddy", "mckey", "cmtime",
                     "rstream"), "rdmacm-utils"),
    "tshark": "tshark", "rdma": "iproute2", "iscsistart": "open-iscsi",
    "rpcbind": "rpcbind",
}


class NotToBeHad(Exception):
    """The message says why."""


def command(name):
    """Where it is."""
    path = shutil.which(name, path=PATH)
    package = PACKAGES.get(name)
    assert path, (f"{name} is missing on this machine"
                  + (f": it is in the package {package}" if package else ""))
    return path


def apt(*arguments, **options):
    """Asks apt for something; what it printed."""
    if shutil.which(arguments[0], path=PATH) is None:
        raise NotToBeHad(f"{arguments[0]} is not on this machine")
    done = subprocess.run(arguments, capture_output=True, text=True,
                          check=False, **options)
    if done.returncode != 0:
        raise NotToBeHad(f"{' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def need_remote_adapters(accelerator):
    """QEMU 8.2 and later crash without KVM when a guest has x-pci-proxy-dev, by
    which a modelled adapter is plugged in: they ask KVM for an irqfd."""
    told = subprocess.run([command(QEMU), "--version"], check=True,
                          capture_output=True, text=True).stdout
    version = re.search(r"version ((\d+)\.(\d+)\S*)", told)
    if (int(version[2]), int(version[3])) >= (8, 2) and accelerator != "kvm":
        raise NotToBeHad(f"QEMU {version[1]} has remote devices with KVM only")


def need_qemu():
    """Where it is missing and can be had, that is a failure."""
    if shutil.which(QEMU, path=PATH) is None:
        apt("apt-get", "download", "--print-uris", PACKAGES[QEMU])
        command(QEMU)
