"""Fixtures, and which account a test runs as: see pytest_generate_tests()."""

import os
import pathlib
import signal
import stat

import pytest

import own_network
# Fixtures that the tests in a User-Mode Linux have, too.
from accounts import build, make_account, programs, scratch  # noqa: F401
from harness import (ACCOUNTS, STANDS, Background, Fabric, started_by,
                     until)


HERE = pathlib.Path(__file__).parent


def pytest_addoption(parser):
    parser.addoption("--deep", action="store_true",
                     help="the tests marked `deep`, too, and each kind of adapter")
    parser.addoption("--each-account", action="store_true",
                     help="each test as root, too")


def pytest_collection_modifyitems(config, items):
    """What is marked `deep` takes long, and says little that others do not.
    tests/uml/guest, which may be collected beside these, chooses by -m."""
    if not config.getoption("--deep"):
        left_out = [item for item in items if item.get_closest_marker("deep")
                    and item.path.is_relative_to(HERE)]
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


def pytest_generate_tests(metafunc):
    """A test runs as a plain user.  Where rights matter it is marked
    `both_accounts` and runs as root, too; with --each-account each does."""
    each = metafunc.config.getoption("--each-account")
    marked = metafunc.definition.get_closest_marker
    both = each or (marked("both_accounts") and not marked("plain_account"))
    named = [mark.args[0] for mark in
             metafunc.definition.iter_markers("parametrize")]
    for name in ("account", "module_account"):
        if name in metafunc.fixturenames and name not in named:
            metafunc.parametrize(
                name, ACCOUNTS if both else ACCOUNTS[-1:], indirect=True,
                scope="module" if name == "module_account" else None)
    if "any_fabric" in metafunc.fixturenames:
        deep = metafunc.config.getoption("--deep")
        some = STANDS if each else STANDS[-3:] if deep else STANDS[-2:]
        if marked("one_back_end") and not deep:
            some = some[:1]
        metafunc.parametrize(
            "any_fabric", some, indirect=True,
            ids=lambda stand: f"{stand[0]}-{stand[1].__name__}")


@pytest.fixture(scope="session", autouse=True)
def own_network_beside_others():
    """Where tests run side by side (pytest-xdist), each has all ports."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        own_network.enter()


@pytest.fixture
def interface_beside_the_loopback():
    """Open MPI 5 crashes where there is none (PRRTE's list of the machine's own
    names is NULL then)."""
    with own_network.more_than_the_loopback():
        yield


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


@pytest.fixture
def account(request, scratch, programs):
    return make_account(request.param, scratch, programs)


@pytest.fixture(scope="module")
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


@pytest.fixture
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
    yield from started_by(account)


@pytest.fixture
def events():
    """Starts `ibemu events` on a fabric with a node-1; ready when it listens.
    It tells of faults as well."""
    running = []

    def start(lab, *arguments):
        chosen = any(not word.startswith("-") for word in arguments)
        program = Background(lab.account, [
            "ibemu", "events", f"--fabric={lab.socket}", *arguments,
            *(["fault"] if chosen and "fault" not in arguments else [])])
        running.append(program)
        # Whoever adds faults before it listens adds another.
        until(lambda: lab.ibemu("fault", "add", "link", "node-1/1", "loss",
                                "0%") and "added" in program.output)
        lab.ibemu("fault", "reset")
        return program

    yield start
    for program in running:
        program.stop()
