"""Where the programs are, and what makes guests and subnets."""

import contextlib
import itertools
import subprocess

import pytest

import initramfs
import this_machine
# From the end-to-end tests, as the subnet is theirs.
from accelerator import accelerator
from accounts import build, make_account, programs, scratch  # noqa: F401
from guest import Guest
from harness import RunFabric
from mlx4_guest import MODULES, PROGRAMS

FABRICS = itertools.count()  # each has a name of its own


@pytest.fixture(scope="session", autouse=True)
def qemu_and_kernel():
    """Tests are skipped where one of them can't be had, and else not."""
    try:
        this_machine.need_qemu()
        initramfs.Kernel()
    except this_machine.NotToBeHad as why:
        pytest.skip(f"no QEMU or no kernel to be had: {why}")


def guests_in(place):
    """Makes each Guest in a directory of its own."""
    count = 0

    def make(launcher, **options):
        nonlocal count
        count += 1
        own = place / f"guest{count}"
        own.mkdir()
        return Guest(own, launcher, **options)

    return make


@pytest.fixture
def boot(tmp_path):
    """Makes a Guest: `with boot(launcher) as guest`."""
    return guests_in(tmp_path)


@pytest.fixture(scope="session")
def stripped(build, scratch):
    """The path of a program of ours without what debuggers want, which is
    most of it."""
    def make(name):
        target = scratch / "stripped" / (build / name).name
        if not target.exists():
            target.parent.mkdir(exist_ok=True)
            subprocess.run([this_machine.command("strip"), "-o", target,
                            build / name], check=True)
        return str(target)

    return make


@contextlib.contextmanager
def fabrics(scratch, programs):
    """Makes fabrics and stops them in the end."""
    account = make_account("root", scratch, programs)
    running = []

    def make(topology, kind=RunFabric, **options):
        made = kind(account, f"fabric{next(FABRICS)}", topology, **options)
        running.append(made)
        return made

    yield make
    for made in reversed(running):
        made.stop()


@pytest.fixture
def fabric(scratch, programs):
    """Makes fabrics: fabric("fat-tree:radix=8,levels=2", sm="none")."""
    with fabrics(scratch, programs) as make:
        yield make


def plugs(build, boot):
    try:
        this_machine.need_remote_adapters(accelerator(initramfs.Kernel().image))
    except this_machine.NotToBeHad as why:
        pytest.skip(f"no guest can have an adapter: {why}")

    def make(lab, host, *flags, **options):
        options.setdefault("modules", MODULES)
        options.setdefault("programs", PROGRAMS)
        launcher = [build / "cli/ibemu-hca-model", f"--fabric={lab.socket}",
                    f"--host={host}", "--statistics", *flags]
        return boot(launcher, **options)

    return make


@pytest.fixture
def plug(build, boot):
    """A guest whose ConnectX-3 is `host` of a running fabric."""
    return plugs(build, boot)


# What several tests of a module share: to boot takes longer than most of them.
@pytest.fixture(scope="module")
def shared_fabric(scratch, programs):
    with fabrics(scratch, programs) as make:
        yield make


@pytest.fixture(scope="module")
def shared_plug(build, tmp_path_factory):
    return plugs(build, guests_in(tmp_path_factory.mktemp("guests")))
