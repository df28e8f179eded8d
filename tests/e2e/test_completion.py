"""What bash, zsh and fish offer for a line that begins with ibemu or ibemud."""

import os
import pathlib
import shutil
import subprocess
import threading

import pytest

from harness import DEADLINE

HERE = pathlib.Path(__file__).resolve().parent
COMPLETIONS = HERE.parents[1] / "packaging/completions"


# For each line, of words with \x1f behind each, what fish offers.
FISH = r"""
while read -l line
  complete -C (string replace -r '\x1f$' '' $line | string replace -a \x1f ' ')
  echo '<end>'
end
"""


@pytest.fixture(params=["bash", "zsh", "fish"])
def offers(request, account):
    """offers(WORD...): the set of completions of the last word."""
    shell = request.param
    place = account.home / "completions"
    for directory in (COMPLETIONS, HERE / "completion"):
        shutil.copytree(directory, place, dirs_exist_ok=True)
    place.chmod(0o755)
    command = {
        "bash": ["bash", place / "complete.bash", place / "ibemu.bash"],
        "zsh": ["zsh", place / "complete.zsh", place],
        "fish": ["fish", "--no-config", "-c", "; ".join(
            f"source {path}" for path in place.glob("*.fish")) + FISH],
    }[shell]

    def ask(*words):
        print("".join(f"{word}\x1f" for word in words), file=process.stdin,
              flush=True)
        answer = list(iter(
            lambda: process.stdout.readline() or pytest.fail(f"{shell} ended"),
            "<end>\n"))
        if shell == "fish":  # fish 4 adds what has the letters elsewhere
            answer = [line for line in answer if line.startswith(words[-1])]
        # Some repeat the option before the value, some have descriptions.
        return {line.split("\t")[0].rsplit("=", 1)[-1] if "=" in words[-1]
                else line.split("\t")[0].rstrip("=")
                for line in map(str.rstrip, answer)} - {""}

    # One for all questions: zsh takes a second to start.
    process = account.popen(command, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True,
                            errors="replace")
    deadline = threading.Timer(DEADLINE, process.kill)
    deadline.start()
    with process:
        yield ask
        process.stdin.close()
    deadline.cancel()


def test_commands_options_and_values(offers):
    assert offers("ibemu", "sta") == {"status"}
    assert {"run", "doctor", "help"} <= offers("ibemu", "")
    assert offers("ibemu", "nodes", "--") == {"--all", "--fabric", "--help", "--json"}
    assert offers("ibemu", "run", "--sm=") == {"none", "static", "builtin"}
    assert offers("ibemu", "device", "node-1", "") == {"add", "remove"}
    assert offers("ibemu", "fault", "r") == {"reset", "rm"}
    assert offers("ibemu", "help", "sta") == {"status"}
    assert offers("ibemu", "events", "--f") == {"--fabric", "--for"}
    assert "torus:" in offers("ibemud", "to")
    assert offers("ibemu", "fault", "add", "n") == {"node"}
    assert offers("ibemu", "events", "tr") == {"trap"}
    assert offers("ibemu", "scenario", "--c") == {"--check"}
    assert offers("ibemud", "--front-end=") == {"cuse"}
    assert offers("ibemud", "--backend=") == {"hca"}
    assert offers("ibemu", "run", "--backend=") == {"hca"}
    assert "model" in offers("ibemud", "--backend=hca", "mo")
    assert "torus:" in offers("ibemud", "--topology=to")


def test_the_command_of_a_run(offers):
    for words in (["run", "--sm=none", "--"], ["ssh", "node-1"]):
        files = offers("ibemu", *words, "cat", "/etc/passw")
        assert files & {"/etc/passwd", "passwd"}  # zsh leaves out what is there


def test_fabrics_and_nodes_of_running_daemons(offers, background):
    name = f"lab-{os.getpid()}"
    background("ibemud", "--topology=torus:2x2", f"--name={name}").wait_for("ready")
    assert name in offers("ibemu", "nodes", "--fabric=")
    on = f"--fabric={name}"
    assert name in offers("ibemu", "stop", "lab")
    nodes = {"node-1", "node-2", "node-3", "node-4"}
    assert offers("ibemu", "run", on, "--host=node") == nodes
    assert offers("ibemu", "capture", on, "--host=node") == nodes
    assert offers("ibemu", "node", on, "node-") == nodes
    assert offers("ibemu", "ssh", on, "node-") == nodes
    assert {end.rstrip("/") for end in offers("ibemu", "link", on, "no")} == nodes


def test_no_daemon_no_nodes(offers):
    assert offers("ibemu", "node", "--fabric=/nowhere", "n") == set()
