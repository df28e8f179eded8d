"""Where a guest's kernel comes from: initramfs.py."""

import pytest

import initramfs
from this_machine import NotToBeHad


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache of a machine without a network."""
    def no_network(*arguments, **options):
        raise NotToBeHad("no network")

    monkeypatch.setattr(initramfs.this_machine, "apt", no_network)
    monkeypatch.setattr(initramfs, "CACHE", tmp_path)
    return tmp_path


def unpack(cache, name):
    image = cache / name / "boot/vmlinux"
    image.parent.mkdir(parents=True)
    image.write_text(name)


def test_a_kernel_that_is_there_needs_no_network(cache):
    unpack(cache, "linux-image-6.1.0-1-amd64")
    assert initramfs.Kernel().image.read_text() == "linux-image-6.1.0-1-amd64"


def test_of_several_kernels_the_newest_is_taken(cache):
    for number in (9, 21, 10):
        unpack(cache, f"linux-image-6.1.0-{number}-amd64")
    assert initramfs.Kernel().image.read_text() == "linux-image-6.1.0-21-amd64"


def test_a_kernel_that_is_not_there_is_asked_of_apt(cache):
    # An unpacking that did not come to its end is none.
    (cache / "tmp1/tree").mkdir(parents=True)
    with pytest.raises(NotToBeHad, match="no network"):
        initramfs.Kernel()
