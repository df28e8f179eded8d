"""Fixtures of the tests that run as root of the machine in QEMU."""

import pathlib
import shutil
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
for folder in ("tests/e2e", "tests/e2e/verbs"):
    sys.path.insert(0, str(ROOT / folder))

from accounts import build, make_account, scratch  # noqa: E402,F401
from service import OneHost, Service  # noqa: E402

PROGRAMS = pathlib.Path("/usr/bin")


@pytest.fixture
def root(scratch):  # noqa: F811
    return make_account("root", scratch, PROGRAMS)


@pytest.fixture
def plain(scratch):  # noqa: F811
    return make_account("plain", scratch, PROGRAMS)


@pytest.fixture
def member(scratch):  # noqa: F811
    """A plain user who is in the group rdma."""
    account = make_account("plain", scratch, PROGRAMS)
    account.prefix = ["--groups=rdma" if word == "--clear-groups" else word
                      for word in account.prefix]
    return account


def install(root):
    """The package, as an administrator does it."""
    found = next((ROOT / "build/package").glob("ibemu_*.deb"), None)
    assert found, "no package in build/package: run \"tools/dev package\""
    if root.run("dpkg-query", "-W", "ibemu", check=False).returncode:
        root.run("apt-get", "install", "--yes", found, cwd=found.parent,
                 env={**root.environment, "DEBIAN_FRONTEND": "noninteractive"})
    # Else libibverbs makes the kernel load a module, and asks that alone.
    shutil.copy(ROOT / "packaging/examples/modprobe.conf",
                "/etc/modprobe.d/ibemu.conf")
    return found


@pytest.fixture
def package(root):
    return install(root)


@pytest.fixture
def service(root, package):
    """ibemud.service: started by the test, stopped with it."""
    service = Service(root)
    yield service
    service.stop()


@pytest.fixture
def cable(service):
    """Two adapters and a cable between them, no manager on either."""
    service.start("--topology=back-to-back --sm=static --host=node-1 --host=node-2")
    return service


@pytest.fixture(scope="module")
def account(scratch):  # noqa: F811
    """Who runs the programs of end-to-end tests that run here, too."""
    return make_account("root", scratch, PROGRAMS)


@pytest.fixture(scope="module")
def fabric(account):
    """As those have it, by a service that one file's tests share."""
    install(account)
    service = Service(account)

    def make(topology, sm):
        if service.show("ActiveState") != "active":
            service.start(f"--topology={topology} --sm={sm} --host=node-1")
        return OneHost(service)

    yield make
    service.stop()
