"""rdma-core's own tests (python3-pyverbs), as Debian packages them."""

import gzip
import pathlib
import re

import pytest

PACKAGED = pathlib.Path("/usr/share/doc/rdma-core/tests")


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
    return target.parent


def results(output):
    """What became of each test: "ok", "FAIL" … or the reason of a skip."""
    found = {}
    # A test's name, perhaps a line of description, then " ... " and the result.
    pattern = re.compile(
        r"^(\w+) \(tests\.(\w+)\.\w+\.\1\)\n?.*? \.\.\. (.*)$", re.M)
    for name, module, result in pattern.findall(output):
        skipped = re.fullmatch(r"skipped (['\"])(.*)\1", result)
        found[f"{module}.{name}"] = skipped[2] if skipped else result
    return found
