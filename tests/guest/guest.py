"""A virtual machine with a modelled adapter, and what a test does there.

It has one processor, which KVM runs where it can, else QEMU emulates it.  On a
quiet machine each test takes well below 60 seconds; on a busy one it may take
what it takes.
"""

import concurrent.futures
import contextlib
import dataclasses
import pathlib
import queue
import re
import signal
import subprocess
import threading
import time

import initramfs
import kernel_log
from accelerator import accelerator
from harness import DEADLINE


@dataclasses.dataclass
class Result:
    """What a command in the guest said."""

    command: str
    status: int
    output: str


class Guest:
    """One machine: `with Guest(...) as guest: guest.run("...")`.

    `launcher` is the command that plugs the adapter in, up to its "--".  The
    kernel's log is looked at in the end; `provoked` are patterns of the errors
    that it has to have, each of them (kernel_log.py)."""

    def __init__(self, place, launcher, modules=(), programs=(), machine=(),
                 append="", memory="384M", provoked=(),
                 qemu="qemu-system-x86_64"):
        place = pathlib.Path(place)
        self.console = place / "console"
        self._errors = place / "errors"
        self._provoked = provoked
        kernel = initramfs.Kernel()
        image = place / "initramfs"
        initramfs.make(image, kernel, modules, programs)
        # The kernel may have had to be downloaded.
        self.renew()
        self._command = [
            *launcher, "--", qemu, "-accel", accelerator(kernel.image),
            "-smp", "1",
            "-m", memory, "-nodefaults", "-no-user-config", "-no-reboot",
            "-display", "none", "-vga", "none", *machine,
            "-kernel", str(kernel.image), "-initrd", str(image), "-append",
            # The timer is there, however late it is on a busy machine, which may
            # also leave the guest without a processor for a minute.
            "console=ttyS0 panic=-1 quiet mitigations=off cryptomgr.notests "
            "no_timer_check rcupdate.rcu_cpu_stall_suppress=1 " + append,
            "-serial", f"file:{self.console}", "-serial", "stdio"]

    def renew(self):
        """The time that a test has begins anew: for another test."""
        self._deadline = time.monotonic() + DEADLINE

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
        try:
            if kind is None:
                self.off()
                self.check_signs()
        finally:
            self._kill()
        if kind is not None:
            print(self.story())

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
        self.say(insert(module))

    def until(self, command):
        """Asks until the command succeeds; what it printed."""
        while True:
            result = self.run(command, check=False)
            if result.status == 0:
                return result.output
            assert time.monotonic() < self._deadline, (
                f"{command}: exit status {result.status}\n{result.output}")

    def signal_launcher(self, number):
        self._process.send_signal(number)

    def off(self):
        """Switches it off; the launcher's last words."""
        if self._process.poll() is None:
            found = self.faults()
            assert not found, "the guest's kernel log:\n" + "\n".join(found)
            self._process.stdin.write(b"poweroff -f\n")
            self._process.stdin.flush()
        try:
            status = self._process.wait(
                max(1, self._deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._kill()
            raise AssertionError(
                "the guest does not end\n" + self.story()) from None
        # QEMU 7.2 also crashes, where it has an IOMMU, while it takes down what
        # the guest has left.
        gone = (status == -signal.SIGSEGV and
                "reboot: Power down" in self.console.read_text(
                    errors="replace"))
        assert status == 0 or gone, f"exit status {status}\n{self.story()}"
        words = self._errors.read_text(errors="replace")
        # A correct driver does none of what the model counts.
        if "--statistics" in self._command:
            assert "ibemu-hca-model: violations 0 " in words, words
        return words

    def _kill(self):
        self._process.kill()
        self._process.wait()

    def check_signs(self):
        text = self.story()
        for sign in kernel_log.BAD_SIGNS:
            assert sign not in text, f"the guest says {sign!r}\n{text}"

    def faults(self):
        """What is wrong by the kernel's log, from the boot on."""
        text = self.say("dmesg -r")
        assert "Linux version" in text, "the log's beginning is gone"
        return kernel_log.faults(text, self._provoked)

    def story(self):
        """What the kernel and the launcher said."""
        parts = [f"--- {path.name}\n{path.read_text(errors='replace')}"
                 for path in (self.console, self._errors) if path.exists()]
        return "\n" + "\n".join(parts)


def insert(module):
    """A line of shell: loads the module after those that it needs."""
    return ("while read name file; do [ -e /sys/module/$name ] ||"
            " insmod /modules/$file || exit; done"
            f" < /modules/{module}.list")


def at_once(function, *things):
    """Calls it with each, all at the same time; what it returned."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return list(pool.map(function, things))


@contextlib.contextmanager
def together(*guests):
    """Boots several at the same time, which is most of what they do."""
    with contextlib.ExitStack() as stack:
        yield at_once(stack.enter_context, *guests)
