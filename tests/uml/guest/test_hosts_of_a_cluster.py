"""What the Helm chart starts on a node, in mounts as a pod has them."""

import os
import pathlib
import re

import pytest

from harness import ROOT, Background

HOSTS = ROOT / "packaging/chart/templates/hosts.yaml"
INFINIBAND = pathlib.Path("/dev/infiniband")
CLASS = pathlib.Path("/sys/class/infiniband")
SHARED = ["/sys/class", "/run/ibemu"]  # mountPropagation: Bidirectional
# In mounts of one's own, which have a /sys of their own, and of the machine's what
# is below SHARED.
IN_POD = ("mkdir -p /tmp/class && mount --bind /sys/class /tmp/class &&"
          " mount --make-private /sys && umount -l /sys &&"
          " mount -t sysfs none /sys && mount --bind /tmp/class /sys/class &&"
          ' exec "$@"')


def script():
    """The argument of its sh -ec."""
    text = HOSTS.read_text()
    for place in SHARED:
        assert re.search(rf"mountPath: {place}, mountPropagation: Bidirectional",
                         text)
    return re.search(r"^ +- \|\n((?: {14}.*\n)+)", text, re.M)[1]


@pytest.fixture
def pod(account):
    """Starts a program in mounts as a pod has them: the machine sees those below
    SHARED."""
    directory = pathlib.Path("/run/ibemu")
    directory.mkdir(mode=0o755, exist_ok=True)
    directory.chmod(0o755)  # as the kubelet makes it
    account.run("mount", "--bind", directory, directory)
    for place in "/sys", directory:
        account.run("mount", "--make-shared", place)
    running = []

    def start(*command):
        running.append(Background(account, [
            "unshare", "--mount", "--propagation=unchanged", "sh", "-c", IN_POD,
            "sh", *command]))
        return running[-1]

    yield start
    for program in running:
        program.stop()
    account.run("umount", directory)
    account.run("mount", "--make-private", "/sys")


@pytest.mark.deep
def test_a_node_has_the_devices_of_the_ibemud_in_its_pod(account, pod):
    daemon = pod("sh", "-ec", script(), "auto", "--topology=back-to-back",
                "--host=node-1")
    daemon.wait_for(r"\bready\b")
    assert (os.readlink(f"/proc/{daemon.process.pid}/ns/mnt") !=
            os.readlink("/proc/self/ns/mnt"))
    assert sorted(os.listdir(INFINIBAND)) == ["issm0", "rdma_cm", "umad0",
                                              "uverbs0"]
    assert "State: Active" in account.run("ibstat").stdout
    daemon.stop()
    assert not INFINIBAND.exists()
    assert not CLASS.exists()
