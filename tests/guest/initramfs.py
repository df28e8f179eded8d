"""What a guest boots: Debian's kernel, and a root file system made of this
machine's programs with their libraries.  Nothing is installed."""

import os
import pathlib
import re
import shutil
import stat
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = ROOT / "build/guest"
# What the guest has no use for.
LEFT_OUT = ["*/sound/*", "*/drivers/gpu/*", "*/drivers/media/*"]


def kernel_package():
    """The package that linux-image-amd64 stands for."""
    depends = subprocess.run(["apt-cache", "depends", "linux-image-amd64"],
                             check=True, capture_output=True, text=True).stdout
    return re.search(r"Depends: (\S+)", depends).group(1)


class Kernel:
    """Debian's kernel, downloaded once."""

    def __init__(self):
        name = kernel_package()
        self.place = CACHE / name
        if not self.place.exists():
            self._download(name)
        self.image = next(self.place.glob("boot/vmlinuz-*"))
        self._modules = {path.stem.replace("-", "_"): path
                         for path in self.place.glob("lib/modules/**/*.ko")}

    def _download(self, name):
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            # As whoever owns the directory: apt's own user may not write there.
            subprocess.run(["apt-get", "download", "-qq", "-o",
                            "APT::Sandbox::User=root", name],
                           cwd=scratch, check=True)
            package = next(pathlib.Path(scratch).glob("*.deb"))
            tree = pathlib.Path(scratch) / "tree"
            tree.mkdir()
            with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package],
                                  stdout=subprocess.PIPE) as unpack:
                subprocess.run(
                    ["tar", "-x", "-C", tree, "--no-same-owner",
                     *[f"--exclude={pattern}" for pattern in LEFT_OUT],
                     "./boot", "./lib"],
                    stdin=unpack.stdout, check=True)
            os.rename(tree, self.place)

    def modules(self, *names):
        """The files of these modules, each after those that it needs."""
        found = {}

        def add(name):
            path = self._modules.get(name.replace("-", "_"))
            if path is None or path in found:
                return  # built in
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

    `modules` are in its /modules, and listed there in the order in which they
    have to be loaded; `programs`, paths or names of commands, in its /bin."""
    archive = Archive(path)
    archive.copy(pathlib.Path(__file__).with_name("init.sh"), "/init")
    archive.program(shutil.which("busybox"), "/bin/busybox")
    # glibc loads it when a thread is cancelled.
    archive.copy("/lib/x86_64-linux-gnu/libgcc_s.so.1")
    files = kernel.modules(*modules)
    for file in files:
        archive.copy(file, f"/modules/{file.name}")
    for name in modules:
        order = [file.name for file in kernel.modules(name)]
        archive.add(f"/modules/{name}.list", "\n".join(order + [""]).encode())
    for program in programs:
        source = shutil.which(program, path=f"/usr/sbin:{os.environ['PATH']}")
        assert source, f"{program} is missing on this machine"
        archive.program(source, f"/bin/{os.path.basename(program)}")
    # rdma-core's user-space drivers are found by name.
    for provider in pathlib.Path("/usr/lib/x86_64-linux-gnu/libibverbs").glob(
            "libmlx4-*.so"):
        archive.program(provider, str(provider))
        archive.add("/etc/libibverbs.d/mlx4.driver", b"driver mlx4\n", 0o644)
    for name in ("/proc", "/sys", "/dev", "/tmp", "/root", "/var/log",
                 "/var/cache/opensm"):
        archive.directory(name)
    archive.close()
