"""rdma-core's own tests (python3-pyverbs), as Debian packages them."""

import gzip
import pathlib
import re
import shutil

import pytest

PACKAGED = pathlib.Path("/usr/share/doc/rdma-core/tests")
# Python 3.13 crashes when it collects what a skipped test has left, and may do
# so at its end, too: pyverbs destroys a protection domain after its context.
SITE = """
import gc, os, sys

def leave(status):
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(status))

if sys.version_info >= (3, 13):
    gc.disable()
    sys.exit = leave
"""
RDMA_LINK = pathlib.Path(__file__).with_name("rdma_link.py")


@pytest.fixture(scope="session")
def suite(scratch):
    """The suite, where everybody can read it."""
    target = scratch / "pyverbs" / "tests"
    if target.exists():  # made for another file of tests
        return target.parent
    target.mkdir(parents=True)
    for source in PACKAGED.iterdir():
        if source.suffix == ".gz":
            text = gzip.decompress(source.read_bytes())
            (target / source.stem).write_bytes(text)
        else:
            (target / source.name).write_bytes(source.read_bytes())
    rdma = target.parent / "bin" / "rdma"
    rdma.parent.mkdir()
    shutil.copy(RDMA_LINK, rdma)
    (rdma.parent / "sitecustomize.py").write_text(SITE)
    return target.parent


def environment(account, directory):
    """What rdma-core 56 needs: each test that sends asks `rdma link` for the
    network interface of its port."""
    usual, own = account.environment, directory / "bin"
    return {**usual, "PATH": f"{own}:{usual['PATH']}", "PYTHONPATH": str(own)}


def results(output):
    """What became of each test: "ok", "FAIL" … or the reason of a skip."""
    found = {}
    # A test's name, perhaps a line of description, then " ... ", perhaps what
    # destructors complain of, and the result.
    pattern = re.compile(
        r"^(\w+) \(tests\.(\w+)\.\w+\.\1\)\n?.*? \.\.\. "
        r"(?:Traceback .*\n(?:.*\n)*?)?(ok|FAIL|ERROR|skipped .*)$", re.M)
    for name, module, result in pattern.findall(output):
        skipped = re.fullmatch(r"skipped (['\"])(.*)\1", result)
        found[f"{module}.{name}"] = skipped[2] if skipped else result
    return found
