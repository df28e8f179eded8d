"""Fixtures: `account` runs a test twice, as root and as a plain user."""

import os
import pathlib
import shutil
import signal
import stat
import tempfile

import pytest

from harness import Account, Background, Fabric

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOBODY = 65534
# No capability, not even in the bounding set: what a plain user has at most.
PLAIN = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
         "--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all", "--"]


@pytest.fixture(scope="session")
def scratch():
    """A directory that everybody may enter (a clone below /root is closed)."""
    with tempfile.TemporaryDirectory(prefix="ibemu-e2e-") as name:
        path = pathlib.Path(name)
        path.chmod(0o755)
        yield path


@pytest.fixture(scope="session")
def build():
    return ROOT / os.environ.get("IBEMU_BUILD", "build/release")


@pytest.fixture(scope="session")
def programs(scratch, build):
    target = scratch / "bin"
    target.mkdir()
    for name in ("ibemu", "ibemud"):
        shutil.copy(build / "daemon" / name, target / name)
    return target


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


def make_account(name, scratch, programs):
    if name == "plain" and os.geteuid() == 0:
        prefix, owner = PLAIN, NOBODY
    elif name == "plain":
        prefix, owner = [], os.geteuid()
    elif os.geteuid() == 0:
        prefix, owner = [], 0
    else:
        pytest.skip("running as root needs root")
    home = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}-", dir=scratch))
    for path in (home, home / "run"):
        path.mkdir(exist_ok=True)
        path.chmod(0o700)
        if os.geteuid() == 0:
            os.chown(path, owner, owner)
    return Account(name, prefix, home, programs)


@pytest.fixture(params=["root", "plain"])
def account(request, scratch, programs):
    return make_account(request.param, scratch, programs)


@pytest.fixture(params=["root", "plain"], scope="module")
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
def background(account):
    """Starts programs that are ended with the test."""
    running = []

    def start(*arguments, **options):
        running.append(Background(account, arguments, **options))
        return running[-1]

    yield start
    for program in reversed(running):
        program.stop()
