"""The README's worked example: what it shows is what comes."""

import re
from signal import SIGTERM

import pytest

from harness import ROOT, Background

SECTION = "## Rehearse a change\n"
pytestmark = pytest.mark.deep
PATIENCE = 1500  # seconds: ibdiagnet takes minutes, and more on a busy machine


def steps():
    """(command, the lines that it prints), as the README has them."""
    text = (ROOT / "README.md").read_text()
    section = text.split(SECTION)[1].split("\n## ")[0]
    found = []
    for line in re.findall(r"(?m)^    (.*)$", section):
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def settled(line):
    """Without what differs from run to run: times, threads and LIDs."""
    line = re.sub(r"^\w{3} \d\d [\d:]+ \d+ \[\w+\]", "TIME", line)
    line = re.sub(r"TID:0x\w+", "TID", line)
    return re.sub(r"\b(lid|LID:?) ?[\d-]+", r"\1", line.rstrip())


@pytest.fixture
def shell(account):
    """Runs commands as a shell would; what it leaves running is ended."""
    left = []

    def run(command):
        script = ["bash", "-c", command.removesuffix(" &")]
        if command.endswith(" &"):
            left.append(Background(account, script))
            if "ibemud" in command:
                left[-1].wait_for("ready")
            return ""
        return account.run(*script, timeout=PATIENCE).stdout

    yield run
    for program in reversed(left):
        program.stop(SIGTERM)


# As who reads it does it, and once: it takes long.
@pytest.mark.parametrize("account", ["plain"], indirect=True)
def test_every_command_prints_what_the_readme_shows(shell):
    example = steps()
    assert len(example) >= 8
    for command, shown in example:
        printed = shell(command).splitlines()
        assert ([settled(line) for line in printed]
                == [settled(line) for line in shown]), command
