"""Where the programs are; a test is skipped where something is missing."""

import shutil
import subprocess

import pytest

# From the end-to-end tests, as the subnet is theirs.
from accounts import build, make_account, programs, scratch  # noqa: F401
from guest import Guest
from harness import RunFabric
from mlx4_guest import MODULES, PROGRAMS

NEEDED = ("qemu-system-x86_64", "busybox", "apt-get", "dpkg-deb",
          "ibnetdiscover", "opensm", "ibv_rc_pingpong", "strip")


def pytest_collection_modifyitems(items):
    missing = [name for name in NEEDED
               if shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")
               is None]
    if missing:
        reason = f"not on this machine: {', '.join(missing)}"
        for item in items:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def boot(tmp_path):
    """Makes a Guest in a directory of its own."""
    count = 0

    def make(launcher, **options):
        nonlocal count
        count += 1
        place = tmp_path / f"guest{count}"
        place.mkdir()
        return Guest(place, launcher, **options)

    return make


@pytest.fixture(scope="session")
def stripped(build, scratch):
    """The path of a program of ours without what debuggers want, which is
    most of it."""
    def make(name):
        target = scratch / "stripped" / (build / name).name
        if not target.exists():
            target.parent.mkdir(exist_ok=True)
            subprocess.run(["strip", "-o", target, build / name], check=True)
        return str(target)

    return make


@pytest.fixture
def fabric(scratch, programs):
    """Makes fabrics: fabric("fat-tree:radix=8,levels=2", sm="none")."""
    account = make_account("root", scratch, programs)
    running = []

    def make(topology, kind=RunFabric, **options):
        made = kind(account, f"fabric{len(running)}", topology, **options)
        running.append(made)
        return made

    yield make
    for made in reversed(running):
        made.stop()


@pytest.fixture
def plug(build, boot):
    """A guest whose ConnectX-3 is `host` of a running fabric."""
    def make(lab, host, *flags, **options):
        options.setdefault("modules", MODULES)
        options.setdefault("programs", PROGRAMS)
        launcher = [build / "daemon/ibemu-hca-model", f"--fabric={lab.socket}",
                    f"--host={host}", "--statistics", *flags]
        return boot(launcher, **options)
    return make
