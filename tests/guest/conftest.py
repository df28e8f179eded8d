"""Where the programs are; a test is skipped where something is missing."""

import shutil

import pytest

# From the end-to-end tests, as the subnet is theirs.
from accounts import build, make_account, programs, scratch  # noqa: F401
from guest import Guest
from harness import RunFabric

NEEDED = ("qemu-system-x86_64", "busybox", "apt-get", "dpkg-deb",
          "ibnetdiscover", "opensm", "ibv_rc_pingpong")


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


@pytest.fixture
def fabric(scratch, programs):
    """Makes fabrics: fabric("fat-tree:radix=8,levels=2", sm="none")."""
    account = make_account("root", scratch, programs)
    running = []

    def make(topology, **options):
        made = RunFabric(account, f"fabric{len(running)}", topology, **options)
        running.append(made)
        return made

    yield make
    for made in reversed(running):
        made.stop()
