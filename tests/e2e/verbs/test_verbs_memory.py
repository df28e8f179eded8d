"""Registering memory, as Linux does it: what is there, and how much may be."""

import textwrap

# Prints what becomes of each registration: "ok", or an errno.
PRELUDE = """
import ctypes, errno, mmap, sys, time
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError

PAGE, MIB = 4096, 1 << 20
READ, WRITE = 0, 1
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int,
                      ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

def pages(length, rights=mmap.PROT_READ | mmap.PROT_WRITE):
    return libc.mmap(None, length, rights,
                     mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)

domains = [PD(Context(name="ibemu0")) for _ in range(2)]
held = []

def register(what, address, length, access=WRITE, domain=0):
    try:
        held.append(MR(domains[domain], length, access, address=address))
        print(what, "ok", flush=True)
    except PyverbsRDMAError as error:
        print(what, errno.errorcode[error.error_code], flush=True)

def release():
    held.pop().close()
"""


def play(account, program, before=(), options=()):
    """The lines that a program of registrations prints."""
    done = account.run(*before, "ibemu", "run", "--", *options,
                       "/usr/bin/python3", "-c",
                       PRELUDE + textwrap.dedent(program))
    return [tuple(line.split()) for line in done.stdout.splitlines()]


def test_only_memory_that_is_there_is_registered(account):
    assert play(account, """
        area = pages(4 * PAGE)
        register("all", area, 4 * PAGE)
        libc.munmap(area + 2 * PAGE, PAGE)
        register("hole", area, 4 * PAGE)
        register("before", area, 2 * PAGE)
        register("nowhere", PAGE, PAGE)
        fixed = pages(PAGE, mmap.PROT_READ)
        register("read-only", fixed, PAGE, READ)
        register("not-to-write", fixed, PAGE, WRITE)
        register("none", pages(PAGE, 0), PAGE, READ)
    """) == [("all", "ok"), ("hole", "EFAULT"), ("before", "ok"),
             ("nowhere", "EFAULT"), ("read-only", "ok"),
             ("not-to-write", "EFAULT"), ("none", "EFAULT")]


def test_a_gigabyte_is_registered_without_being_touched(account):
    """Bringing its pages in would take tens of times as long."""
    *told, resident = play(account, """
        area = pages(1024 * MIB)
        register("gigabyte", area, 1024 * MIB)
        fields = open("/proc/self/statm").read().split()
        print(int(fields[1]) * PAGE // MIB)
    """)
    assert told == [("gigabyte", "ok")]
    assert int(resident[0]) < 512


LIMITED = """
    area = pages(8 * MIB)
    register("two", area, 2 * MIB)
    register("half", area, MIB // 2)
    register("same-again", area, MIB // 2, domain=1)
    register("one-page-more", area, 1)
    release()
    register("given-back", area, 1)
"""


def test_a_lowered_limit_holds(account):
    """RLIMIT_MEMLOCK, for all contexts of a process together; not for who has
    CAP_IPC_LOCK, as root has."""
    told = play(account, LIMITED, options=["prlimit", f"--memlock={1 << 20}"])
    names = ["two", "half", "same-again", "one-page-more", "given-back"]
    if account.name == "root":
        assert told == [(name, "ok") for name in names]
    else:
        assert told == list(zip(names, ["ENOMEM", "ok", "ok", "ENOMEM", "ok"]))


def test_who_may_lock_nothing_registers_nothing(account):
    told = play(account, "register('page', pages(PAGE), PAGE)",
                options=["prlimit", "--memlock=0"])
    assert told == [("page", "ok" if account.name == "root" else "EPERM")]


def test_the_limit_that_the_run_has_holds_nobody_back(account):
    """It is the machine's, which was hardly made with verbs in mind."""
    told = play(account, "register('two', pages(2 * MIB), 2 * MIB)",
                before=["prlimit", f"--memlock={1 << 20}"])
    assert told == [("two", "ok")]


def test_what_a_killed_program_had_is_given_back(account, fabric):
    """The daemon is as it was: another process has its own account, and the
    number of a process that has gone means nothing."""
    fabric = fabric("single-switch:hosts=2", sm="static")
    limited = ["prlimit", f"--memlock={1 << 20}", "/usr/bin/python3", "-c"]
    program = PRELUDE + "register('all', pages(MIB), MIB)\n"
    for _ in range(3):
        killed = fabric.run(
            "node-1", *limited,
            program + "import os; os.kill(os.getpid(), 9)", check=False)
        assert killed.stdout == "all ok\n"
        assert killed.returncode in (-9, 137)


def test_a_forked_child_has_its_own_memory_in_the_inherited_context(account):
    """Memory that a child registers is the child's, and counts for it."""
    told = play(account, """
        import os
        area = pages(MIB)
        register("parent", area, MIB)
        if os.fork() == 0:
            own = pages(MIB)
            register("child", own, MIB)
            os._exit(0)
        os.wait()
        register("over", area, 1)
    """, options=["prlimit", f"--memlock={1 << 20}"])
    over = "ok" if account.name == "root" else "ENOMEM"
    assert told == [("parent", "ok"), ("child", "ok"), ("over", over)]
