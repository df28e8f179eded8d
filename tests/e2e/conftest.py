"""Fixtures: `account` runs a test twice, as root and as a plain user."""

import os
import pathlib
import signal
import stat

import pytest

# Fixtures that the tests in a User-Mode Linux have, too.
from accounts import build, make_account, programs, scratch  # noqa: F401
from harness import ACCOUNTS, STANDS, Background, Fabric


@pytest.fixture(scope="session", autouse=True)
def fuse_as_debian_has_it():
    """udev gives /dev/fuse mode 0666; a machine without udev may not."""
    device = pathlib.Path("/dev/fuse")
    before = stat.S_IMODE(device.stat().st_mode)
    if os.geteuid() == 0 and before != 0o666:
        device.chmod(0o666)
        yield
        device.chmod(before)
    else:
        yield


@pytest.fixture(scope="session", autouse=True)
def signals_as_a_login_has_them():
    """nohup and background jobs ignore some, and so would all that we start."""
    ignored = [number for number in (signal.SIGHUP, signal.SIGINT,
                                     signal.SIGQUIT)
               if signal.getsignal(number) == signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture(params=ACCOUNTS)
def account(request, scratch, programs):
    return make_account(request.param, scratch, programs)


@pytest.fixture(params=ACCOUNTS, scope="module")
def module_account(request, scratch, programs):
    """One account for a whole file, for fabrics that several tests share."""
    return make_account(request.param, scratch, programs)


@pytest.fixture
def fabric(account):
    """Makes fabrics: fabric("fat-tree:radix=8,levels=2", sm="none")."""
    running = []

    def make(topology, **options):
        made = Fabric(account, f"fabric{len(running)}", topology, **options)
        running.append(made)
        return made

    yield make
    for made in reversed(running):
        made.stop()


@pytest.fixture(params=STANDS, ids=lambda stand: f"{stand[0]}-"
                f"{stand[1].__name__}")
def any_fabric(request, scratch, programs):
    """As `fabric`, whatever stands behind the adapters."""
    name, kind = request.param
    account = make_account(name, scratch, programs)
    running = []

    def make(topology, **options):
        running.append(kind(account, f"fabric{len(running)}", topology,
                            **options))
        return running[-1]

    yield make
    for made in reversed(running):
        made.stop()


@pytest.fixture
def background(account):
    """Starts programs that are ended with the test."""
    running = []

    def start(*arguments, **options):
        running.append(Background(account, arguments, **options))
        return running[-1]

    yield start
    for program in reversed(running):
        program.stop()
