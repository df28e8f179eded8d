"""What a guest boots: Debian's kernel, and a root file system made of this
machine's programs with their libraries.  Nothing is installed."""

import lzma
import os
import pathlib
import re
import stat
import struct
import subprocess
import tempfile

import this_machine

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = ROOT / "build/guest"
# What the guest has no use for.
LEFT_OUT = ["*/sound/*", "*/drivers/gpu/*", "*/drivers/media/*"]
ZSTD = b"\x28\xb5\x2f\xfd"  # what it has packed begins so
# Of rdma-core in user space: the modelled adapter's, and that of ibemu's.
DRIVERS = ["mlx4", "ipathverbs"]


def kernel_package():
    """The package that linux-image-amd64 stands for."""
    depends = this_machine.apt("apt-cache", "depends", "linux-image-amd64")
    return re.search(r"Depends: (\S+)", depends).group(1)


def unpacked(image):
    """The kernel proper, an ELF file, out of what boot loaders load.  QEMU
    starts that, too (PVH), and to have it unpacked by an emulated processor
    takes as long as the rest of the boot.  Linux, Documentation/arch/x86/
    boot.rst."""
    setup_sectors = image[0x1f1]
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (setup_sectors + 1) * 512 + offset
    packed = image[start:start + length]
    if packed.startswith(ZSTD):
        # Four bytes at the end tell the length of the result.
        return subprocess.run(
            [this_machine.command("zstd"), "-dc"], input=packed[:-4],
            stdout=subprocess.PIPE, check=True).stdout
    return lzma.LZMADecompressor().decompress(packed)


def unpacked_before():
    """Where the newest kernel is that needs no download, if there is one."""
    def version(place):
        return [int(number) for number in re.findall(r"\d+", place.name)]

    return max(CACHE.glob("linux-image-*"), key=version, default=None)


class Kernel:
    """Debian's kernel, downloaded and unpacked once: apt is asked only where
    CACHE has none, so machines without a network can use what they have, and
    a newer one comes when CACHE is removed."""

    def __init__(self):
        self.place = unpacked_before() or self._download(kernel_package())
        self.image = self.place / "boot/vmlinux"
        if not self.image.exists():
            packed = next(self.place.glob("boot/vmlinuz-*"))
            part = self.image.with_suffix(".part")
            part.write_bytes(unpacked(packed.read_bytes()))
            part.rename(self.image)
        # NAME.ko.xz before NAME.ko, which it has been unpacked to.
        self._modules = {
            path.name.split(".")[0].replace("-", "_"): path
            for suffix in (".ko.xz", ".ko")
            for path in self.place.glob(f"**/lib/modules/**/*{suffix}")}

    @staticmethod
    def _download(name):
        """Where it is then."""
        place = CACHE / name
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            # As whoever owns the directory: apt's own user may not write there.
            this_machine.apt("apt-get", "download", "-qq", "-o",
                             "APT::Sandbox::User=root", name, cwd=scratch)
            package = next(pathlib.Path(scratch).glob("*.deb"))
            tree = pathlib.Path(scratch) / "tree"
            tree.mkdir()
            with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package],
                                  stdout=subprocess.PIPE) as unpack:
                subprocess.run(
                    ["tar", "-x", "-C", tree, "--no-same-owner",
                     *[f"--exclude={pattern}" for pattern in LEFT_OUT],
                     # Debian 13 has modules below /usr.
                     "--wildcards", "./boot/*", "./*lib/modules/*"],
                    stdin=unpack.stdout, check=True)
            os.rename(tree, place)
        return place

    def _unpacked_module(self, name):
        """Its file, which Debian 13 has packed; None where it is built in."""
        path = self._modules.get(name)
        if path is not None and path.suffix == ".xz":
            part = path.with_suffix(".part")
            part.write_bytes(lzma.decompress(path.read_bytes()))
            path = part.rename(path.with_suffix(""))
            self._modules[name] = path
        return path

    def modules(self, *names):
        """The files of these modules, each after those that it needs."""
        found = {}

        def add(name):
            path = self._unpacked_module(name.replace("-", "_"))
            if path is None or path in found:
                return
            depends = re.search(rb"\0depends=([^\0]*)\0", path.read_bytes())
            for needed in depends.group(1).decode().split(","):
                add(needed)
            found[path] = True

        for name in names:
            assert name.replace("-", "_") in self._modules, name
            add(name)
        return list(found)


def libraries(program):
    """What the dynamic linker would load for it, itself included."""
    listed = subprocess.run(["ldd", program], check=False, capture_output=True,
                            text=True).stdout
    return re.findall(r"(/\S+) \(0x", listed)


class Archive:
    """A cpio archive in the format that the kernel unpacks (newc)."""

    def __init__(self, path):
        self._file = open(path, "wb")
        self._inode = 0
        self._names = set()

    def _entry(self, name, mode, data=b""):
        self._inode += 1
        header = [self._inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0,
                  len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08x" % field for field in header)
        head += name.encode() + b"\0"
        self._file.write(head + b"\0" * (-len(head) % 4))
        self._file.write(data + b"\0" * (-len(data) % 4))

    def directory(self, name):
        parent = os.path.dirname(name)
        if parent and parent != "/":
            self.directory(parent)
        if name not in self._names:
            self._names.add(name)
            self._entry(name.lstrip("/"), stat.S_IFDIR | 0o755)

    def add(self, name, data, mode=0o755):
        if name in self._names:
            return
        self.directory(os.path.dirname(name))
        self._names.add(name)
        self._entry(name.lstrip("/"), stat.S_IFREG | mode, data)

    def copy(self, source, name=None):
        source = pathlib.Path(source)
        self.add(name or str(source), source.read_bytes())

    def program(self, source, name):
        """With its libraries where its linker looks for them."""
        self.copy(source, name)
        for library in libraries(source):
            self.copy(library)

    def close(self):
        self._entry("TRAILER!!!", 0)
        self._file.close()


def make(path, kernel, modules=(), programs=()):
    """Writes an initramfs whose /init is init.sh.

    `modules` are in its /modules, and for each there is a list of what has to be
    loaded in which order: names and files.  `programs`, paths or names of
    commands, are in its /bin."""
    archive = Archive(path)
    archive.copy(pathlib.Path(__file__).with_name("init.sh"), "/init")
    archive.program(this_machine.command("busybox"), "/bin/busybox")
    # glibc loads it when a thread is cancelled.
    archive.copy("/lib/x86_64-linux-gnu/libgcc_s.so.1")
    files = kernel.modules(*modules)
    for file in files:
        archive.copy(file, f"/modules/{file.name}")
    for name in modules:
        order = [f"{file.stem.replace('-', '_')} {file.name}\n"
                 for file in kernel.modules(name)]
        archive.add(f"/modules/{name}.list", "".join(order).encode())
    for program in programs:
        archive.program(this_machine.command(program),
                        f"/bin/{os.path.basename(program)}")
    if "stdbuf" in programs:
        archive.copy("/usr/libexec/coreutils/libstdbuf.so")
    # rdma-core's user-space drivers are found by name.
    for driver in DRIVERS:
        providers = list(pathlib.Path(
            "/usr/lib/x86_64-linux-gnu/libibverbs").glob(f"lib{driver}-*.so"))
        assert providers, (f"lib{driver} is missing on this machine: it is in"
                           " the package ibverbs-providers")
        archive.program(providers[0], str(providers[0]))
        archive.add(f"/etc/libibverbs.d/{driver}.driver",
                    f"driver {driver}\n".encode(), 0o644)
    for name in ("/proc", "/sys", "/dev", "/tmp", "/root", "/var/log",
                 "/var/cache/opensm"):
        archive.directory(name)
    archive.close()
