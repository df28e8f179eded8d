"""Where the programs are; a test is skipped where something is missing."""

import os
import pathlib
import shutil

import pytest
from guest import Guest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("IBEMU_BUILD", "build/release")


def pytest_collection_modifyitems(items):
    missing = [name for name in ("qemu-system-x86_64", "busybox", "dpkg-deb")
               if shutil.which(name) is None]
    if missing:
        reason = f"not on this machine: {', '.join(missing)}"
        for item in items:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def build():
    """The build tree."""
    return BUILD


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
