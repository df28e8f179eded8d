"""QEMU moves a virtual machine to another host by RDMA."""

import contextlib
import json
import random
import socket

import pytest

from by_address import PAIR, SERVER
from harness import until

MEMORY = 64 << 20
FILL, FILL_AT = 16 << 20, 32 << 20


class Monitor:
    """A connection to QEMU's monitor (QMP)."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._stream = self._socket.makefile("rw")
        self._stream.readline()  # a greeting
        self("qmp_capabilities")

    def __call__(self, command, **arguments):
        self._stream.write(json.dumps({"execute": command,
                                       "arguments": arguments}) + "\n")
        self._stream.flush()
        while True:
            answer = json.loads(self._stream.readline())
            if "event" not in answer:
                return answer["return"]


@pytest.fixture
def machine(fabric):
    """Starts a virtual machine on a host: its process and its monitor."""
    lab = fabric(PAIR, sm="builtin")
    home = lab.account.home

    def start(host, *options):
        path = home / f"{host}.qmp"
        qemu = lab.start(host, "qemu-system-x86_64", "-machine", "pc,accel=tcg",
                         "-m", MEMORY >> 20, "-nodefaults", "-display", "none",
                         "-qmp", f"unix:{path},server=on,wait=off", *options)

        def monitor():
            assert qemu.process.poll() is None, qemu.output
            with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                return Monitor(path)

        return qemu, until(monitor)

    start.home = home
    return start


@pytest.mark.deep
def test_a_virtual_machine_moves_with_all_of_its_memory(machine):
    image = machine.home / "image"
    image.write_bytes(random.Random(7).randbytes(FILL))
    to, there = machine("node-1", "-incoming", f"rdma:{SERVER}:4444")
    # It never runs: firmware that begins may use the memory of the image.
    from_, here = machine("node-2", "-S", "-device",
                          f"loader,file={image},addr={FILL_AT},force-raw=on")
    before, after = machine.home / "before", machine.home / "after"
    here("pmemsave", val=0, size=MEMORY, filename=str(before))
    here("migrate", uri=f"rdma:{SERVER}:4444")
    until(lambda: here("query-migrate").get("status") in ("completed", "failed"))
    assert here("query-migrate")["status"] == "completed", from_.output
    there("pmemsave", val=0, size=MEMORY, filename=str(after))
    assert image.read_bytes() in before.read_bytes()
    assert before.read_bytes() == after.read_bytes()
    for monitor, qemu in ((here, from_), (there, to)):
        monitor("quit")
        assert qemu.wait() == 0, qemu.output
