"""Who runs the programs, and where they are."""

import os
import pathlib
import shutil
import tempfile

import pytest

import own_network
from harness import FRONT_END, Account, ROOT

NOBODY = 65534
# No capability, not even in the bounding set: what a plain user has at most.
PLAIN = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
         "--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all", "--"]

PRELOAD = "fast_path/preload/libibemu-preload.so"
LIBRARIES = PRELOAD, "lint/libibemu-lint.so"


@pytest.fixture(scope="session")
def scratch():
    """A directory that everybody may enter (a clone below /root is closed)."""
    with tempfile.TemporaryDirectory(prefix="e2e-") as name:
        path = pathlib.Path(name)
        path.chmod(0o755)
        yield path


@pytest.fixture(scope="session")
def build():
    return ROOT / os.environ.get("IBEMU_BUILD", "build/release")


@pytest.fixture(scope="session")
def programs(scratch, build):
    if FRONT_END == "cuse":  # root's; a copy would take the guest's memory
        return build / "cli"
    target = scratch / "bin"
    target.mkdir()
    for name in ("ibemu", "ibemud", "ibemu-peers", "ibemu-device-plugin"):
        shutil.copy(build / "cli" / name, target / name)
    (target / "ibemu-ssh").symlink_to("ibemu")
    # Where ibemu looks for it, beside itself.  Programs in a run have no
    # sanitizers, so neither has what they load there.
    for name in LIBRARIES:
        library = build / name
        if not library.exists():
            library = ROOT / "build/release" / name
        (scratch / name).parent.mkdir(parents=True)
        shutil.copy(library, scratch / name)
    return target


def make_account(name, scratch, programs):
    if name == "plain" and os.geteuid() == 0:
        prefix, owner = PLAIN, NOBODY
    elif name == "plain":
        prefix, owner = own_network.WITHOUT_RIGHTS, os.geteuid()
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
