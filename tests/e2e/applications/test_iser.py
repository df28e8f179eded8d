"""iSCSI over RDMA (iSER): the target of tgt, and libiscsi's tests of it."""

import re
from signal import SIGKILL

import pytest

from by_address import PAIR, SERVER, status
from harness import until

SUITES = ["SCSI.Write16", "SCSI.CompareAndWrite"]
NUMBER = 7  # of the target daemon: another may serve the machine
TARGET = "iqn.2026-11.org.ibemu:disk"
INITIATOR = "iqn.2007-10.com.github:sahlberg:libiscsi:iscsi-test"
DISK = 64 << 20


@pytest.fixture
def lab(fabric):
    """A fabric where node-1 serves a disk."""
    made = fabric(PAIR, sm="builtin")
    home = made.account.home
    disk = home / "disk"
    with disk.open("wb") as image:
        image.truncate(DISK)
    disk.chmod(0o666)
    ipc = f"TGT_IPC_SOCKET={home}/tgtd"
    # Its port for TCP is one that nobody else has.
    daemon = made.start("node-1", "env", ipc, "tgtd", "-f", "-C", NUMBER,
                        "--iscsi", "portal=127.0.0.1:3999")

    def admin(mode, operation, *options):
        made.account.run("env", ipc, "tgtadm", "-C", NUMBER, "--lld", "iser",
                         "--mode", mode, "--op", operation, *options)

    until(lambda: status(made, "node-1")["listeners"])
    first = "--tid", 1
    admin("target", "new", *first, "--targetname", TARGET)
    admin("logicalunit", "new", *first, "--lun", 1, "--backing-store", disk)
    # Over iSER an initiator needs both.
    admin("target", "bind", *first, "--initiator-address", "ALL")
    admin("target", "bind", *first, "--initiator-name", INITIATOR)
    yield made
    daemon.stop(SIGKILL)  # it lets no other signal end it while it has a target


@pytest.mark.deep
def test_a_disk_is_read_and_written_over_the_fabric(lab):
    for suite in SUITES:
        said = lab.run("node-2", "iscsi-test-cu", "--dataloss", "--fail",
                       "--test", suite, "--initiator-name", INITIATOR,
                       f"iser://{SERVER}:3260/{TARGET}/1").stdout
        counts = re.search(r"asserts +\d+ +(\d+) +(\d+) +0 ", said)
        assert counts and counts[1] == counts[2] != "0", said
