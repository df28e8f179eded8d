"""Fixtures of the tests that run in containers."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))

from accounts import scratch  # noqa: E402,F401
from debian import mirrors  # noqa: E402
from harness import started_by  # noqa: E402
import podman  # noqa: E402

RELEASE = "bookworm"


@pytest.fixture(scope="session")
def account(scratch):  # noqa: F811
    if os.geteuid():
        pytest.skip("containers of root's")
    podman.enter()
    home = scratch / "podman"
    home.mkdir()
    made = podman.Podman("root", [], home, pathlib.Path("/usr/bin"))
    yield made
    made.podman("rm", "--all", "--force", "--time=0")


@pytest.fixture
def start(account):
    """Starts programs that are ended with the test."""
    yield from started_by(account)


@pytest.fixture(scope="session")
def image(account):
    """ibemu's, by a name that podman knows."""
    archive = ROOT / "build/image/ibemu.oci.tar"
    assert archive.exists(), "no image: run \"tools/dev image\""
    account.podman("load", "--input", archive)
    return "localhost/ibemu"


@pytest.fixture(scope="session")
def package():
    found = sorted((ROOT / "build/package").glob("ibemu_*.deb"))
    assert found, "no package in build/package: run \"tools/dev package\""
    return found[0]


@pytest.fixture(scope="session")
def debian(account):
    """An image of a Debian that nobody has added anything to."""
    root = account.home / "debian.tar"
    subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", RELEASE,
                    str(root), "-"], input=mirrors(), text=True, check=True,
                   # It ends its whole process group when something fails.
                   start_new_session=True)
    account.podman("import", root, "localhost/debian")
    root.unlink()
    return "localhost/debian"


@pytest.fixture
def network(account):
    """The option of containers that know each other by name."""
    account.podman("network", "create", "fabric")
    yield "--network=fabric"
    account.podman("network", "rm", "--force", "--time=0", "fabric")
