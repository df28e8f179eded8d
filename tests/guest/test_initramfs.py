"""Where a guest's kernel comes from: initramfs.py."""

import lzma
import struct
import subprocess

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


def boot_image(payload):
    """What a boot loader loads, of a setup of one sector after the first."""
    image = bytearray(1024)
    image[0x1f1] = 1
    struct.pack_into("<II", image, 0x248, 0, len(payload))
    return bytes(image) + payload + b"more"


def test_a_kernel_is_unpacked_whatever_packed_it():
    kernel = b"\x7fELF" + bytes(4096)
    length = struct.pack("<I", len(kernel))
    zstd = subprocess.run([initramfs.this_machine.command("zstd"), "-c"],
                          input=kernel, stdout=subprocess.PIPE, check=True)
    for packed in (lzma.compress(kernel), zstd.stdout):
        assert initramfs.unpacked(boot_image(packed + length)) == kernel


@pytest.mark.parametrize("folder", ["lib/modules", "usr/lib/modules"])
@pytest.mark.parametrize("suffix, pack", [("", bytes), (".xz", lzma.compress)])
def test_modules_come_after_those_that_they_need(cache, folder, suffix, pack):
    unpack(cache, "linux-image-6.1.0-1-amd64")
    place = cache / "linux-image-6.1.0-1-amd64" / folder / "6.1.0-1"
    place.mkdir(parents=True)
    for name, needs in (("mlx4-core", b""), ("mlx4_ib", b"mlx4-core,ib_core")):
        (place / f"{name}.ko{suffix}").write_bytes(
            pack(b"\0depends=" + needs + b"\0"))
    for _ in range(2):
        found = initramfs.Kernel().modules("mlx4_ib")
        assert [path.name for path in found] == ["mlx4-core.ko", "mlx4_ib.ko"]
        assert all(path.read_bytes().startswith(b"\0depends=")
                   for path in found)
