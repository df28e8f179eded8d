"""Whose rights count when a supervisor opens a verbs device for a client."""

import ctypes
import os
import re
import select
import stat
import textwrap

import pytest

from test_verbs_held_up import held_up  # noqa: F401

root_alone = pytest.mark.parametrize("account", ["root"], indirect=True)

USER = 12346
AS_USER = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups",
           "--"]

OPEN = textwrap.dedent("""
    import errno, os, sys
    try:
        fd = os.open(sys.argv[1], os.O_RDWR | os.O_CLOEXEC)
        print(os.readlink(f"/proc/self/fd/{fd}"),
              f"{os.fstat(fd).st_mode & 0o777:o}")
    except OSError as error:
        print(errno.errorcode[error.errno])
""")
PYTHON = ["/usr/bin/python3", "-c", OPEN]
NODE = "/dev/infiniband/uverbs0"


PROMPT = 60  # seconds for what takes a moment


def run(account, *command, **variables):
    return account.run("ibemu", "run", "--", "env",
                       *[f"{name}={value}" for name, value in variables.items()],
                       *command).stdout


@root_alone  # a plain user's namespace has one user
def test_a_user_in_roots_run_uses_the_adapter_as_himself(account):
    text = run(account, *AS_USER, "ibv_devinfo")
    assert re.search(r"hca_id:\s+ibemu0\n", text)
    assert "PORT_ACTIVE" in text
    pair = ("ibv_rc_pingpong -n 100 -s 4096 -e > /dev/null & "
            "until ibv_rc_pingpong -n 100 -s 4096 -e localhost; do "
            "sleep 0.1; done; wait")
    assert "100 iters in" in run(account, *AS_USER, "sh", "-c", pair)


# What a user makes of /dev/infiniband in namespaces of his own: .uverbs0, the
# file behind uverbs0, is another that root may open, and he may not, or one that
# is not to be opened at all: a device, a FIFO, a file of somebody else's FUSE
# whose open() never ends.  He lays it into a directory of his own, or over the
# run's, or has it in one.  What he gets: the error of what he opens himself then,
# for there is no uverbs0, or the run's adapter.  The same for rdma_cm.
UMAD = "/dev/infiniband/umad0"
HIDDEN = "/dev/infiniband/.uverbs0"
NODE_OF_RUN = f"{HIDDEN} 666"
SHAM = "mkdir sham real && mount --bind /dev/infiniband real && "
BIND = " && mount --rbind sham /dev/infiniband"


def linked(file):
    return SHAM + f"ln -s {file} sham/.uverbs0" + BIND


def bound(file):
    return (SHAM + f"touch sham/.uverbs0 && mount --bind {file} sham/.uverbs0"
            + BIND)


# The kernel takes what covers a name of the run's away when somebody looks it
# up, and finds the run's file.
def covering(file):
    return f"mount --bind {file} {HIDDEN}"


WAYS = {
    "linked-umad": (linked("$PWD/real/umad0"), "ENOENT"),
    "bound-umad": (bound("real/umad0"), "ENOENT"),
    "covering-umad": (covering(UMAD), NODE_OF_RUN),
    "imitated-directory": (
        "$HELD_UP imitate /dev/infiniband & "
        f"until test -e {HIDDEN} -a ! -e {UMAD}; do sleep 0.1; done",
        "ENOENT"),
}
OTHERS = "secret", "fifo", "device", "foreign"


def ways(other):
    """What the user does with one of these."""
    file = f"$PLACE/{other}/.uverbs0"
    return {
        f"linked-{other}": (linked(file), "ENOENT"),
        f"bound-{other}": (bound(file), "ENOENT"),
        f"covering-{other}": (covering(file), NODE_OF_RUN),
        f"{other}-in-its-directory": (
            f"mount --bind $PLACE/{other} /dev/infiniband", "ENOENT"),
    }


for each in OTHERS:
    WAYS |= ways(each)


class Opens:
    """Which of some files are opened, whoever does it."""

    IN_OPEN = 0x20

    def __init__(self, *paths):
        libc = ctypes.CDLL(None, use_errno=True)
        self.events = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        for path in paths:
            assert libc.inotify_add_watch(self.events, os.fsencode(path),
                                          self.IN_OPEN) > 0, path

    def any(self):
        return bool(select.select([self.events], [], [], 0)[0])


@pytest.fixture
def place(account, device):
    """Where the files are that are not to be opened, and the watch over them."""
    account.home.chmod(0o755)
    for other in OTHERS:
        (account.home / other).mkdir()
    secret, fifo, special, _ = (account.home / other / f".{device}"
                                for other in OTHERS)
    secret.touch(0o600)
    os.mkfifo(fifo)
    os.mknod(special, stat.S_IFCHR, os.makedev(1, 3))  # /dev/null's
    for path in fifo, special:
        path.chmod(0o666)
    opens = Opens(secret, fifo, special)
    yield opens
    os.close(opens.events)


@root_alone
@pytest.mark.parametrize("device", [
    "uverbs0", pytest.param("rdma_cm", marks=pytest.mark.deep)])
@pytest.mark.parametrize("way", WAYS)
def test_a_user_gets_nothing_by_another_files_name(account, scratch, place,
                                                   held_up,  # noqa: F811
                                                   way, device):
    script, expected = (text.replace(".uverbs0", f".{device}")
                        for text in WAYS[way])
    work = scratch / f"rights-{way}-{device}"
    work.mkdir()
    os.chown(work, USER, USER)
    told = run(account, "sh", "-ec",
               # Root's, in front of the user.
               "$HELD_UP serve $PLACE/foreign & "
               f"until test -e $PLACE/foreign/.{device}; do sleep 0.1; done; "
               '"$@" || echo "status $?"; kill -9 $!', "sh", *AS_USER,
               "timeout", PROMPT, "unshare", "-Urm", "sh", "-ec",
               f'cd {work}; {script}; "$@"; test -z "$!" || kill -9 $!', "sh",
               *PYTHON, f"/dev/infiniband/{device}",
               HELD_UP=held_up, PLACE=account.home)
    assert told == f"{expected}\n"
    assert not place.any()


@root_alone
def test_root_in_a_namespace_of_its_own_has_the_adapter(account):
    told = run(account, *AS_USER, "unshare", "-Urm", *PYTHON, NODE)
    assert told == "/dev/infiniband/.uverbs0 666\n"
    assert run(account, *PYTHON, NODE) == told


def test_a_name_that_linux_does_not_know_is_none(account):
    for name in "uverbs00", "uverbs+0", "uverbs 0", "uverbs0/../uverbs0":
        assert run(account, *PYTHON, f"/dev/infiniband/{name}") in (
            "ENOENT\n", "ENOTDIR\n")
