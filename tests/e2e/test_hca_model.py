"""ibemu-hca-model, without a guest: something else speaks QEMU's part."""

import shutil

import pytest

# Gives one command, a NOP, to the adapter that it is plugged with: messages of
# QEMU's x-pci-proxy-dev (hca/remote/mpqemu_message.h) put BAR 0 at an address
# and write to the command register there, whose bytes are turned round.
QEMU = """#!/usr/bin/python3
import re, socket, struct, sys
BAR = 0xf0000000
proxy = next(word for word in sys.argv if word.startswith("x-pci-proxy-dev,"))
link = socket.socket(fileno=int(re.search(r"fd=(\\d+)", proxy)[1]))
def ask(command, content):
    link.sendall(struct.pack("=IIQ", command, 0, len(content)) + content)
    assert len(link.recv(24, socket.MSG_WAITALL)) == 24
ask(2, struct.pack("=III", 0x10, BAR, 4))
go = struct.unpack("<I", struct.pack(">I", 1 << 23 | 0x31))[0]
ask(4, struct.pack("=QQIB3x", BAR + 0x80680 + 0x18, go, 4, 1))
"""


@pytest.fixture(scope="module", autouse=True)
def model(programs, build):
    """Where those of the other tests are; it is large, so not for all."""
    shutil.copy(build / "cli/ibemu-hca-model", programs)


def plug(account, *flags):
    qemu = account.home / "qemu"
    qemu.write_text(QEMU)
    qemu.chmod(0o755)
    return account.run("ibemu-hca-model", "--host=node-1", *flags, "--", qemu,
                       check=False)


def test_the_commands_that_the_adapter_is_given_are_written_down(account):
    trace = account.home / "trace"
    done = plug(account, f"--trace={trace}")
    assert done.returncode == 0, done
    assert trace.read_text().startswith("NOP poll ")


def test_a_trace_that_cannot_be_written_is_an_error(account):
    done = plug(account, "--trace=/dev/full")
    assert done.returncode == 125, done
    assert "ibemu-hca-model: /dev/full: No space left" in done.stderr
    done = plug(account, f"--trace={account.home}/nowhere/trace")
    assert done.returncode == 125, done
    assert f"{account.home}/nowhere/trace: No such file" in done.stderr
