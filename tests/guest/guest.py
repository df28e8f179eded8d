"""A virtual machine with a modelled adapter, and what a test does there.

It is emulated (no KVM is needed), has one processor, and 60 seconds to live:
tests that need longer say so.
"""

import dataclasses
import pathlib
import queue
import re
import signal
import subprocess
import threading
import time

import initramfs

SECONDS = 60
# What nobody may see in the kernel's log, whatever the test.
BAD_SIGNS = ("Oops", "BUG:", "WARNING:", "Call Trace", "Kernel panic",
             "Blocked re-entrant IO")


@dataclasses.dataclass
class Result:
    """What a command in the guest said."""

    command: str
    status: int
    output: str


class Guest:
    """One machine: `with Guest(...) as guest: guest.run("...")`.

    `launcher` is the command that plugs the adapter in, up to its "--"."""

    def __init__(self, place, launcher, modules=(), programs=(), machine=(),
                 append="", seconds=SECONDS, memory="384M",
                 qemu="qemu-system-x86_64"):
        place = pathlib.Path(place)
        self.console = place / "console"
        self._errors = place / "errors"
        self._deadline = time.monotonic() + seconds
        kernel = initramfs.Kernel()
        image = place / "initramfs"
        initramfs.make(image, kernel, modules, programs)
        self._command = [
            *launcher, "--", qemu, "-accel", "tcg", "-smp", "1",
            "-m", memory, "-nodefaults", "-no-user-config", "-no-reboot",
            "-display", "none", "-vga", "none", *machine,
            "-kernel", str(kernel.image), "-initrd", str(image), "-append",
            "console=ttyS0 panic=-1 quiet mitigations=off cryptomgr.notests "
            + append,
            "-serial", f"file:{self.console}", "-serial", "stdio"]

    def __enter__(self):
        try:
            return self._boot()
        except AssertionError:
            if not self._qemu_crashed():
                raise
        return self._boot()

    def _qemu_crashed(self):
        """QEMU 7.2 does so now and then, where it has an IOMMU: it touches a
        memory region that is gone, while Linux looks for devices and before it
        has reached a register of ours.  The launcher ends as QEMU does, and
        says before how often that was."""
        return (self._process.returncode == -signal.SIGSEGV and
                re.search(r"config \d+ bar 0 ", self._errors.read_text())
                is not None)

    def _boot(self):
        self._lines = queue.Queue()
        with open(self._errors, "wb") as errors:
            self._process = subprocess.Popen(
                [str(word) for word in self._command], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=errors)
        threading.Thread(target=self._collect, daemon=True,
                         args=(self._process.stdout, self._lines)).start()
        try:
            self._until_mark("(boot)")
        except BaseException:
            self._kill()
            raise
        return self

    def __exit__(self, kind, value, trace):
        if kind is not None:
            self._kill()
            print(self.story())
            return
        self.off()
        self.check_signs()

    @staticmethod
    def _collect(output, lines):
        for line in output:
            lines.put(line.decode(errors="replace").rstrip("\r\n"))
        lines.put(None)

    def _until_mark(self, command):
        """Output up to the next mark, and the mark."""
        lines = []
        while True:
            left = self._deadline - time.monotonic()
            try:
                line = self._lines.get(timeout=max(left, 0.01))
            except queue.Empty:
                raise AssertionError(
                    f"{command}: the guest's time is over\n"
                    + "\n".join(lines) + self.story()) from None
            assert line is not None, (
                f"{command}: the guest has ended, exit status"
                f" {self._process.wait()}\n" + "\n".join(lines) + self.story())
            if line.startswith("=== "):
                return "\n".join(lines), line[4:]
            lines.append(line)

    def run(self, command, check=True):
        """Runs a line of shell in the guest."""
        self._process.stdin.write(command.encode() + b"\n")
        self._process.stdin.flush()
        output, mark = self._until_mark(command)
        result = Result(command, int(mark), output.rstrip("\n"))
        if check:
            assert result.status == 0, (
                f"{command}: exit status {result.status}\n{result.output}")
        return result

    def say(self, command):
        """Runs a line of shell that has to succeed; what it printed."""
        return self.run(command).output

    def load(self, module):
        """With what it needs; like modprobe."""
        self.say(f"for m in $(cat /modules/{module}.list); do"
                 " n=$(echo ${m%.ko} | tr - _); [ -e /sys/module/$n ] ||"
                 " insmod /modules/$m || exit; done")

    def until(self, command):
        """Asks until the command succeeds; what it printed."""
        while True:
            result = self.run(command, check=False)
            if result.status == 0:
                return result.output
            assert time.monotonic() < self._deadline, (
                f"{command}: exit status {result.status}\n{result.output}")

    def off(self):
        """Switches it off; the launcher's exit status, and its last words."""
        if self._process.poll() is None:
            self._process.stdin.write(b"poweroff -f\n")
            self._process.stdin.flush()
        try:
            status = self._process.wait(
                max(1, self._deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._kill()
            raise AssertionError(
                "the guest does not end\n" + self.story()) from None
        assert status == 0, f"exit status {status}\n{self.story()}"
        return self._errors.read_text(errors="replace")

    def _kill(self):
        self._process.kill()
        self._process.wait()

    def check_signs(self):
        text = self.story()
        for sign in BAD_SIGNS:
            assert sign not in text, f"the guest says {sign!r}\n{text}"

    def kernel_log(self):
        return self.say("dmesg")

    def story(self):
        """What the kernel and the launcher said."""
        parts = [f"--- {path.name}\n{path.read_text(errors='replace')}"
                 for path in (self.console, self._errors) if path.exists()]
        return "\n" + "\n".join(parts)
