"""debian/tests, by autopkgtest, in a clean Debian."""

import re
import shutil

from harness import DEADLINE, ROOT
from podman import ALLOWED


def names():
    control = (ROOT / "debian/tests/control").read_text()
    return set(re.findall(r"^Tests: (.*)$", control, re.M))


def test_each_passes(account, debian, package, tmp_path):
    # All that it needs of the sources, which it copies.
    shutil.copytree(ROOT / "debian", tmp_path / "debian")
    done = account.run(
        "autopkgtest", "--setup-commands=apt-get update", "--no-built-binaries",
        package, f"{tmp_path}//", "--", "podman", debian, "--", *ALLOWED,
        "--network=host", check=False, timeout=3 * DEADLINE)
    told = dict(re.findall(r"^([\w-]+) +(PASS|FAIL|SKIP)\b", done.stdout, re.M))
    assert told == {name: "PASS" for name in names()}, (
        done.stdout + done.stderr)
