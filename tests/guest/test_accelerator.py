"""When a guest gets KVM, told by stand-ins for QEMU."""

import pytest

from accelerator import accelerator

PANICS = "echo 'Kernel panic - not syncing: VFS: Unable to mount root fs'"


@pytest.fixture
def try_kvm(tmp_path):
    """What is chosen when QEMU does this, and /dev/kvm is such a file."""
    def choose(script, device="/dev/null", patience=60):
        qemu = tmp_path / "qemu"
        qemu.write_text(f"#!/bin/sh\n{script}\n")
        qemu.chmod(0o755)
        return accelerator(tmp_path / "kernel", str(qemu), device, patience)

    return choose


def test_kvm_is_taken_where_it_boots_a_kernel(try_kvm):
    assert try_kvm(PANICS) == "kvm"


def test_a_kvm_that_never_comes_to_the_end_is_left(try_kvm):
    assert try_kvm("exec sleep 1000", patience=0.1) == "tcg"


def test_a_kvm_that_qemu_can_not_start_is_left(try_kvm):
    assert try_kvm("exit 1") == "tcg"


def test_without_kvm_nothing_is_tried(try_kvm, tmp_path):
    assert try_kvm(PANICS, device=str(tmp_path / "no-kvm")) == "tcg"
