"""What a client has begun to write, and does not end, is not kept for it."""

import pathlib
import re

import pytest

from c_programs import compiled
from harness import until

HERE = pathlib.Path(__file__).parent
THREADS = 6
SPARE = 48 << 10  # KiB that a daemon may keep of what all this took
AT_ONCE = 256 << 10  # KiB that unfinished writes of a user may take


@pytest.fixture(scope="module")
def long_writes(scratch):
    return compiled(HERE / "long_writes.c", scratch)


@pytest.mark.parametrize("device", ["umad0", "uverbs0", "rdma_cm"])
def test_writes_that_break_off_leave_nothing_behind(fabric, long_writes,
                                                    device):
    lab = fabric("single-switch:hosts=2", sm="static")

    def memory(what):
        status = pathlib.Path(f"/proc/{lab.daemon.process.pid}/status")
        return int(re.search(rf"{what}:\s+(\d+)", status.read_text())[1])

    before = memory("VmRSS")
    client = lab.start("node-1", long_writes, f"/dev/infiniband/{device}",
                       THREADS)
    client.wait_for("^idle$")
    assert "whole" not in client.output
    until(lambda: memory("VmRSS") < before + SPARE, 60)
    assert memory("VmHWM") < before + AT_ONCE + SPARE
    # Whoever writes something that ends is served all the same.
    assert "PORT_ACTIVE" in lab.run("node-2", "ibv_devinfo").stdout
