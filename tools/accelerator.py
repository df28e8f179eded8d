"""Which accelerator QEMU is to use: KVM where it boots this kernel, else TCG.

That /dev/kvm can be opened says little: where this machine is a virtual one
itself, its KVM may start a guest and never come to the kernel's first line.  So
it is tried once, by a guest without a root file system, whose kernel panics in
the end and makes QEMU exit.
"""

import functools
import os
import subprocess

PATIENCE = 10  # seconds; where KVM works the trial takes one or two


@functools.cache
def accelerator(kernel, qemu="qemu-system-x86_64", device="/dev/kvm",
                patience=PATIENCE):
    """"kvm" or "tcg"; `kernel` is the path of what -kernel takes."""
    if not os.access(device, os.R_OK | os.W_OK):
        return "tcg"
    with subprocess.Popen(
            [qemu, "-accel", "kvm", "-m", "256M", "-nodefaults",
             "-no-user-config", "-no-reboot", "-display", "none", "-vga", "none",
             "-kernel", str(kernel), "-append", "console=ttyS0 panic=-1 quiet",
             "-serial", "stdio"], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as trial:
        try:
            console, _ = trial.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            trial.kill()
            return "tcg"
    return "kvm" if b"Kernel panic" in console else "tcg"
