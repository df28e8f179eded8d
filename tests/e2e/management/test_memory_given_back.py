"""What programs made the daemon keep goes back to the system after them."""

import pathlib
import re

import pytest

from harness import until

SPARE = 40 << 10  # KiB

SENDS = r"""
import fcntl, os, struct
file = os.open("/dev/infiniband/umad0", os.O_RDWR)
REGISTER = 0xc01c1b01
request = bytearray(28)
struct.pack_into("=BBBB", request, 20, 1, 4, 1, 0)  # QP 1, class 4, version 1
fcntl.ioctl(file, REGISTER, request)
agent, = struct.unpack_from("=I", request)
# To a LID that nobody has, and an hour to wait.
header = struct.pack("=IIIII", agent, 0, 3600000, 0, 0) + struct.pack(
    ">IIH", 1, 0x80010000, 0x1234)
header += bytes(56 - len(header))
for number in range(1, 150001):
    os.write(file, header + struct.pack(">BBBBHHQHHI", 1, 4, 1, 1, 0, 0, number,
                                        0x12, 0, 0) + bytes(232))
"""


@pytest.mark.deep
@pytest.mark.memory
def test_sends_of_a_file_that_was_closed_leave_nothing(fabric):
    lab = fabric("single-switch:hosts=2", sm="static")

    def memory(what):
        status = pathlib.Path(f"/proc/{lab.daemon.process.pid}/status")
        return int(re.search(rf"{what}:\s+(\d+)", status.read_text())[1])

    before = memory("VmRSS")
    lab.run("node-1", "/usr/bin/python3", "-c", SENDS)
    assert memory("VmHWM") > before + 2 * SPARE
    until(lambda: memory("VmRSS") < before + SPARE, 120)
