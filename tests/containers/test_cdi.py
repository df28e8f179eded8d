"""The example of a file for CDI, by which podman gives devices by name."""

import contextlib
import os
import pathlib
import shutil
import stat
import subprocess

import pytest

from harness import ROOT

FILE = ROOT / "docs/examples/kubernetes/cdi.yaml"
# The devices of a machine in system mode, which containers can't be run on here.
NAMES = ["issm0", "rdma_cm", "umad0", "uverbs0"]
NULL = os.makedev(1, 3)


@contextlib.contextmanager
def covered(path):
    """An empty directory in this place, for us and what we start."""
    made = not path.exists()
    path.mkdir(mode=0o711, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", path], check=True)
    try:
        yield path
    finally:
        subprocess.run(["umount", path], check=True)
        if made:
            path.rmdir()


@pytest.fixture
def cdi(account):
    """The option by which a container has one of the file's devices."""
    # Beside /etc/cdi, podman looks there.
    with covered(pathlib.Path("/run/cdi")) as place:
        shutil.copy(FILE, place / "ibemu.yaml")
        yield lambda name: f"--device=ibemu/host={name}"


def test_a_container_can_run_programs_on_a_host(account, image, cdi):
    text = account.podman("run", "--rm", cdi("run"),
                          "--cap-add=SYS_ADMIN,SYS_PTRACE", image, "sh", "-c",
                          "hostname; ibv_devinfo").stdout
    assert text.startswith("node-1\n")
    assert "PORT_ACTIVE" in text


def test_a_container_has_the_devices_of_its_machine(account, image, cdi):
    with (covered(pathlib.Path("/dev/infiniband")) as devices,
          covered(pathlib.Path("/run/ibemu")) as files):
        for name in NAMES:
            os.mknod(devices / name, 0o666 | stat.S_IFCHR, NULL)
        (files / "sys").mkdir()
        (files / "sys/shown").write_text("here\n")
        words = account.podman(
            "run", "--rm", cdi("machine"), "--entrypoint=sh", image, "-ec", """
            cd /dev/infiniband
            stat --format=%n:%t:%T *
            for name in *; do : <>$name; done
            cat /run/ibemu/sys/shown
            ! touch /run/ibemu/sys/shown 2>&1
            """).stdout
    assert words.splitlines() == [
        *[f"{name}:1:3" for name in NAMES], "here",
        "touch: cannot touch '/run/ibemu/sys/shown': Read-only file system"]


def test_other_names_are_no_devices(account, image, cdi):
    done = account.podman("run", "--rm", cdi("host"), image, check=False)
    assert "unresolvable CDI devices ibemu/host=host" in done.stderr
