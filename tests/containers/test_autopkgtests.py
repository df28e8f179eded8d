"""debian/tests, by autopkgtest, in a clean Debian."""

import re

from harness import ROOT
from podman import ALLOWED


def names():
    control = (ROOT / "debian/tests/control").read_text()
    return set(re.findall(r"^Tests: (.*)$", control, re.M))


def test_each_passes(account, debian, package):
    done = account.run(
        "autopkgtest", "--setup-commands=apt-get update", "--no-built-binaries",
        package, f"{ROOT}//", "--", "podman", debian, "--", *ALLOWED,
        "--network=host", check=False)
    told = dict(re.findall(r"^([\w-]+) +(PASS|FAIL|SKIP)\b", done.stdout, re.M))
    assert told == {name: "PASS" for name in names()}, (
        done.stdout + done.stderr)
