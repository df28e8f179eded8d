"""Hot-plug: `ibemu device NODE remove|add` while programs use the adapter."""

import os
import re
import select
import signal
import time

import pytest

from harness import DEADLINE
from profiles import usual

pytestmark = pytest.mark.both_accounts

# What the Python programs below have in common.  System calls go through
# ctypes, since os.read() hides EINTR.
PRELUDE = r"""
import ctypes, errno, fcntl, os, select, signal, struct, subprocess, sys

libc = ctypes.CDLL(None, use_errno=True)
REGISTER, UNREGISTER, ENABLE_PKEY = 0xc01c1b01, 0x40041b02, 0x1b03
UMAD = "/dev/infiniband/umad0"
ISSM = "/dev/infiniband/issm0"

def say(*words):
    print(*words, flush=True)

def outcome(call, *arguments):
    ctypes.set_errno(0)
    result = call(*arguments)
    return result if result >= 0 else errno.errorcode[ctypes.get_errno()]

def read(fd, count):
    return outcome(libc.read, fd, ctypes.create_string_buffer(count), count)

def write(fd, data):
    return outcome(libc.write, fd, data, len(data))

def open_path(path, flags=os.O_RDWR):
    return outcome(libc.open, path.encode(), flags)

def register(fd):
    # An agent of QP1 that only sends.
    request = ctypes.create_string_buffer(struct.pack("=I16xB7x", 99, 1), 28)
    return outcome(libc.ioctl, fd, ctypes.c_ulong(REGISTER), request)

def unregister(fd, agent):
    return outcome(libc.ioctl, fd, ctypes.c_ulong(UNREGISTER),
                   ctypes.byref(ctypes.c_uint32(agent)))

def get_class_port_info(agent, lid, tid):
    # Performance Get(ClassPortInfo), 1 s to wait for the answer.
    header = struct.pack("=IIII", agent, 0, 1000, 0) + struct.pack(
        ">IIIHBB", 0, 1, 0x80010000, lid, 0, 0) + bytes(24)
    mad = struct.pack(">BBBBHHQHHI", 1, 4, 1, 1, 0, 0, tid, 1, 0, 0)
    return header + mad.ljust(256, b"\0")

def device(node, what):
    subprocess.run(["ibemu", "device", node, what], check=True)
"""


@pytest.fixture
def subnet(fabric):
    return fabric("single-switch:hosts=3", sm="static")


def python(subnet, host, script, *arguments):
    done = subnet.run(host, "/usr/bin/python3", "-c", PRELUDE + script,
                      *arguments)
    return done.stdout.splitlines()


def start_python(subnet, host, script, *arguments):
    return subnet.start(host, "/usr/bin/python3", "-c", PRELUDE + script,
                        *arguments)


def shell(subnet, host, script, hosts=()):
    done = subnet.account.run(*subnet.on(host, *hosts), "sh", "-c", script)
    return done.stdout


def wait_until_asleep(subnet, pid):
    """The program said that it is about to block; waits until it does."""
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            if stat.read().rpartition(")")[2].split()[0] == "S":
                break
        os.sched_yield()
    else:
        raise AssertionError(f"process {pid} does not sleep")
    # Its request waits for the daemon, which takes it before a second caller's.
    subnet.ibemu("status")


# What tools see ------------------------------------------------------------


def test_ibstat_loses_the_adapter_and_finds_it_again(subnet):
    text = shell(subnet, "node-2", """
        ibstat -l; echo --
        ibemu device node-2 remove
        ibstat -l; ibstat >&2; echo --
        ibemu device node-2 add
        ibstat -l; ibstat""")
    before, removed, after = text.split("--\n")
    assert before == "ibemu0\n"
    assert removed == ""
    assert after.startswith("ibemu0\n")
    assert "State: Active" in after
    assert "Base lid: 2\n" in after


NAMES = """
    names() {
        ls /dev/infiniband /sys/class/infiniband /sys/class/infiniband_mad \
            /sys/devices/pci1bed:00 /sys/bus/pci/devices \
            /sys/bus/pci/drivers/ib_qib /sys/bus/pci/drivers/hfi1 2>/dev/null |
            grep -E 'ibemu|umad|issm|1bed:'
        for path in /dev/infiniband/umad0 /dev/infiniband/issm0 \
            /sys/class/infiniband/ibemu0 /sys/class/infiniband_mad/umad0 \
            /sys/class/infiniband_mad/issm0/dev \
            /sys/class/infiniband/ibemu0/device/vendor \
            /sys/class/infiniband/ibemu0/ports/1/state \
            /sys/bus/pci/devices/1bed:00:00.0/class \
            /sys/bus/pci/drivers/ib_qib/1bed:00:00.0 \
            /sys/bus/pci/drivers/hfi1/1bed:00:00.0 \
            /sys/devices/pci1bed:00/1bed:00:00.0/infiniband_mad/umad0; do
            test -e $path && echo $path
        done
    }
"""


def test_every_name_goes_and_comes_at_once(subnet):
    text = shell(subnet, "node-2", NAMES + """
        names >before; names >before
        ibemu device node-2 remove; names >removed; names >>removed
        ibemu device node-2 add; names >after
        ibemu device node-2 remove; names >>removed
        ibemu device node-2 add; names >>after
        cat before; echo --; cat removed; echo --; cat after; cat before""")
    before, removed, after = text.split("--\n")
    assert len(before.splitlines()) >= 14
    # The directory of the bus is no device.
    assert set(removed.splitlines()) <= {"/sys/devices/pci1bed:00:"}
    assert after == before * 3


def test_a_name_asked_for_while_it_was_away_is_found_later(subnet):
    """Nobody in this run knew the name before: no kernel cache may have it."""
    text = shell(subnet, "node-2", """
        ibemu device node-2 remove
        for path in /dev/infiniband/umad0 /sys/class/infiniband/ibemu0 \
            /sys/bus/pci/devices/1bed:00:00.0; do
            test -e $path && echo $path is still there
        done
        ibemu device node-2 add
        for path in /dev/infiniband/umad0 /sys/class/infiniband/ibemu0 \
            /sys/bus/pci/devices/1bed:00:00.0; do
            test -e $path || echo $path is still missing
        done
        cat /sys/bus/pci/devices/1bed:00:00.0/vendor""")
    assert text == f"0x{usual().vendor:04x}\n"


def test_lstopo_sees_the_bus_as_it_is(subnet):
    text = shell(subnet, "node-2", """
        count() { lstopo-no-graphics --of console | grep -c ibemu0; }
        count; ibemu device node-2 remove
        count; ibemu device node-2 add; count""")
    assert text.split() == ["1", "0", "1"]


def test_every_run_that_shows_the_host_sees_it_and_no_other(subnet):
    go = subnet.account.home / "go"
    os.mkfifo(go, 0o666)
    os.chmod(go, 0o666)
    watch = f"ibstat -l; cat {go}; ibstat -l; echo end"
    twin = subnet.start("node-2", "sh", "-c", watch)
    twin.wait_for("ibemu0")
    subnet.ibemu("device", "node-2", "remove")
    go.write_text("now\n")
    assert twin.wait() == 0
    assert twin.output == "ibemu0\nnow\nend\n"
    assert subnet.run("node-1", "ibstat", "-l").stdout == "ibemu0\n"


def test_the_lowest_free_names_and_numbers_are_given(subnet):
    text = shell(subnet, "node-1", """
        show() { echo $(ls /sys/class/infiniband /dev/infiniband) \
            $(cat /sys/class/infiniband/*/node_desc) \
            $(cat /sys/class/infiniband_mad/umad*/ibdev); }
        show; ibemu device node-1 remove
        show; ibemu device node-2 remove
        ibemu device node-2 add
        show; ibemu device node-1 add
        show""", hosts=["node-2"])
    both = "issm0 issm1 rdma_cm umad0 umad1 uverbs0 uverbs1 ibemu0 ibemu1"
    assert [re.sub(r"/\S+: ", "", line) for line in text.splitlines()] == [
        f"{both} node-1 node-2 ibemu0 ibemu1",
        "issm1 rdma_cm umad1 uverbs1 ibemu1 node-2 ibemu1",
        "issm0 rdma_cm umad0 uverbs0 ibemu0 node-2 ibemu0",
        f"{both} node-2 node-1 ibemu0 ibemu1"]


# What programs with open files see -----------------------------------------


def test_open_files_fail_as_on_linux_and_new_ones_work(subnet):
    lines = python(subnet, "node-2", r"""
fd = open_path(UMAD)
stale = os.open(UMAD, os.O_PATH)
stale_issm = os.open(ISSM, os.O_PATH)
say("register", register(fd))
say("write", write(fd, get_class_port_info(0, 1, 1)))
poll = select.poll()
poll.register(fd, select.POLLIN)
poll.poll()  # the answer is in the queue

device("node-2", "remove")
everything = select.POLLIN | select.POLLOUT | select.POLLPRI
poll.register(fd, everything | select.POLLRDNORM | select.POLLWRNORM)
say("poll", [events for _, events in poll.poll()])
say("short read", read(fd, 55))
say("read", read(fd, 1024))
say("short write", write(fd, bytes(91)))
say("write to 32", write(fd, get_class_port_info(32, 1, 2)))
say("write", write(fd, get_class_port_info(0, 1, 3)))
say("write to 1", write(fd, get_class_port_info(1, 1, 4)))
say("register", register(fd))
say("unregister", unregister(fd, 0))
fresh = open_path(UMAD)
say("open", fresh)
say("open stale", open_path(f"/proc/self/fd/{stale}"),
    open_path(f"/proc/self/fd/{stale_issm}"))

device("node-2", "add")
say("read", read(fd, 1024))
say("write", write(fd, get_class_port_info(0, 1, 5)))
say("open stale", open_path(f"/proc/self/fd/{stale}"))
fresh = open_path(UMAD)
register(fresh)
write(fresh, get_class_port_info(0, 1, 6))
say("read", read(fresh, 1024))
say("close", outcome(libc.close, fd))
write(fresh, get_class_port_info(0, 1, 7))
say("read", read(fresh, 1024))
""")
    assert lines == [
        "register 0", "write 312", f"poll [{select.POLLERR}]", "short read EINVAL",
        "read EIO", "short write EINVAL", "write to 32 EINVAL", "write EIO",
        "write to 1 EIO", "register EPIPE", "unregister EINVAL", "open ENOENT",
        "open stale ENXIO ENXIO", "read EIO", "write EIO", "open stale ENXIO",
        "read 312", "close 0", "read 312"]


def test_pkey_indexes_can_be_enabled_after_removal(subnet):
    assert python(subnet, "node-2", r"""
fd = open_path(UMAD)
device("node-2", "remove")
say(outcome(libc.ioctl, fd, ctypes.c_ulong(ENABLE_PKEY), 0))
say(read(fd, 63), read(fd, 64))
""") == ["0", "EINVAL EIO"]


def test_a_blocked_poll_is_woken_with_an_error(subnet):
    program = start_python(subnet, "node-2", r"""
fd = open_path(UMAD)
poll = select.poll()
poll.register(fd, select.POLLIN)
say("pid", os.getpid())
say([events == select.POLLERR for _, events in poll.poll()])
""")
    wait_until_asleep(subnet, program.wait_for(r"pid (\d+)")[1])
    subnet.ibemu("device", "node-2", "remove")
    program.wait_for(r"\[True\]")
    assert program.wait() == 0


@pytest.mark.parametrize("trigger", ["", " | select.EPOLLET"])
def test_epoll_reports_the_removal(subnet, trigger):
    program = start_python(subnet, "node-2", rf"""
fd = open_path(UMAD)
epoll = select.epoll()
epoll.register(fd, select.EPOLLIN{trigger})
say("pid", os.getpid())
say([events == select.EPOLLERR for _, events in epoll.poll()])
""")
    wait_until_asleep(subnet, program.wait_for(r"pid (\d+)")[1])
    subnet.ibemu("device", "node-2", "remove")
    program.wait_for(r"\[True\]")
    assert program.wait() == 0


def test_a_blocked_read_stays_so_until_a_signal_comes(subnet):
    program = start_python(subnet, "node-2", r"""
signal.signal(signal.SIGUSR1, lambda *_: say("signal"))
fd = open_path(UMAD)
say("pid", os.getpid())
say("first", read(fd, 1024))
say("second", read(fd, 1024))
""")
    pid = int(program.wait_for(r"pid (\d+)")[1])
    wait_until_asleep(subnet, pid)
    subnet.ibemu("device", "node-2", "remove")
    subnet.ibemu("device", "node-2", "add")
    assert subnet.run("node-2", "ibstat", "-l").stdout == "ibemu0\n"
    wait_until_asleep(subnet, pid)
    assert "first" not in program.output
    os.kill(pid, signal.SIGUSR1)
    program.wait_for("first EINTR")
    program.wait_for("second EIO")
    assert program.wait() == 0


def test_a_blocked_read_of_a_removed_device_can_be_killed(subnet):
    program = start_python(subnet, "node-2", r"""
fd = open_path(UMAD)
say("pid", os.getpid())
read(fd, 1024)
""")
    pid = int(program.wait_for(r"pid (\d+)")[1])
    wait_until_asleep(subnet, pid)
    subnet.ibemu("device", "node-2", "remove")
    os.kill(pid, signal.SIGKILL)
    assert program.wait() == -signal.SIGKILL


def test_the_issm_of_a_removed_device_is_no_more_than_open(subnet):
    text = shell(subnet, "node-2", r"""
        is_sm() { mask=$(cat /sys/class/infiniband/ibemu0/ports/1/cap_mask)
            echo $((mask >> 1 & 1)); }
        is_sm; exec 3<>/dev/infiniband/issm0; is_sm
        ibemu device node-2 remove; ibemu device node-2 add; is_sm
        exec 4<>/dev/infiniband/issm0; is_sm
        exec 3<&-; is_sm; exec 4<&-; is_sm""")
    assert text.split() == ["0", "1", "0", "1", "1", "0"]


@pytest.mark.deep  # beside a load it may sleep before it waits for the daemon
def test_an_open_that_waits_for_issm_hears_of_the_removal_by_the_next_close(
        subnet):
    program = start_python(subnet, "node-2", r"""
holder = open_path(ISSM)
node = os.open(ISSM, os.O_PATH)  # the open below has no name to look up
child = os.fork()
if child == 0:
    os.close(holder)
    say("pid", os.getpid())
    say("issm", open_path(f"/proc/self/fd/{node}"))
    os._exit(0)
sys.stdin = open(sys.argv[1])
sys.stdin.readline()
os.close(holder)
os.wait()
""", go := subnet.account.home / "go")
    os.mkfifo(go, 0o666)
    os.chmod(go, 0o666)
    pid = program.wait_for(r"pid (\d+)")[1]
    wait_until_asleep(subnet, pid)
    subnet.ibemu("device", "node-2", "remove")
    wait_until_asleep(subnet, pid)
    assert "issm" not in program.output
    go.write_text("close\n")
    program.wait_for("issm ENXIO")
    assert program.wait() == 0


# What the subnet sees ------------------------------------------------------


@pytest.mark.plain_account
def test_opensm_elsewhere_notices_the_lost_host_and_its_return(fabric):
    subnet = fabric("fat-tree:radix=8,levels=2")
    opensm = subnet.start_opensm("node-1")
    user = subnet.start("node-7", "sh", "-c", "echo there; ibstat; sleep 1000")
    user.wait_for("State: Active")
    lid = re.search(r"Base lid: (\d+)", user.output)[1]
    for what in ("remove", "add"):
        mark = opensm.mark()
        subnet.ibemu("device", "node-7", what)
        opensm.wait_for("num:128|[Tt]rap 128", since=mark)
        opensm.wait_for("SUBNET UP", since=mark)
        nodes = subnet.run("node-2", "saquery", "NR").stdout
        assert bool(re.search(r"node-7\b", nodes)) == (what == "add")
        text = subnet.run("node-2", "ibnetdiscover").stdout
        assert ('"node-7"' in text) == (what == "add")
        found = subnet.run("node-2", "smpquery", "nodedesc", lid, check=False)
        assert (found.returncode == 0) == (what == "add")
    text = subnet.run("node-7", "ibstat").stdout
    assert "State: Active" in text and f"Base lid: {lid}\n" in text


def test_opensm_on_the_removed_adapter_gives_way_to_the_standby(fabric):
    subnet = fabric("single-switch:hosts=3")
    home = subnet.account.home
    conf = home / "opensm.conf"
    conf.write_text("sminfo_polling_timeout 500\npolling_retry_number 2\n")
    conf.chmod(0o644)
    # It writes an error per read() from then on: to a file of limited size.
    first = subnet.start("node-1", "opensm", "-f", home / "first.log", "-L", "1",
                         "--pidfile", home / "first.pid", "--priority", "10")
    first.wait_for("Entering MASTER state")
    second = subnet.start("node-2", "opensm", "-f", "stdout", "-F", conf,
                          "--pidfile", home / "second.pid", "--priority", "5")
    second.wait_for("Entering STANDBY state")
    subnet.ibemu("device", "node-1", "remove")
    second.wait_for("Entering MASTER state")
    second.wait_for("SUBNET UP")
    assert "SMINFO_MASTER" in subnet.run("node-3", "sminfo").stdout
    # SIGTERM would do no good: opensm cancels the thread that writes these
    # errors, as a rule while it holds the lock of the log, and waits for that.
    first.stop(signal.SIGKILL)


def test_what_comes_back_to_a_static_subnet_is_reached_by_its_lid(subnet):
    for command in (["device", "node-2", "remove"], ["device", "node-2", "add"],
                    ["node", "node-3", "down"], ["node", "node-3", "up"],
                    ["device", "switch-1", "remove"],
                    ["device", "switch-1", "add"],
                    ["link", "node-2/1", "down"], ["link", "node-2/1", "up"]):
        subnet.ibemu(*command)
    for lid in (2, 3):
        subnet.run("node-1", "perfquery", lid, 1)
    table = subnet.ibemu("nodes").stdout
    assert table.count("  active  ") == 4


# What the administrator is told --------------------------------------------


def test_status_and_nodes_show_what_is_removed(subnet):
    user = subnet.start("node-2", "sh", "-c", "echo there; sleep 1000")
    user.wait_for("there")
    subnet.ibemu("device", "node-2", "remove")
    assert re.search(r"(?m)^\s*\d+\s+removed\s+node-2\s+-$",
                     subnet.ibemu("status").stdout)
    nodes = subnet.ibemu("nodes").stdout
    assert re.search(r"(?m)^node-2 .*  removed  0/1$", nodes)
    assert nodes.count("removed") == 1
    subnet.ibemu("device", "node-2", "add")
    assert re.search(r"(?m)^\s*\d+\s+ibemu0\s+node-2\s+0$",
                     subnet.ibemu("status").stdout)
    assert "removed" not in subnet.ibemu("nodes").stdout


def test_mistakes_are_answered_with_one_sentence(subnet):
    def refused(*command):
        done = subnet.ibemu(*command, check=False)
        assert done.returncode == 1, done
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1
        return done.stderr

    assert ('no node "nod-2": did you mean "node-2"?'
            in refused("device", "nod-2", "remove"))
    assert ('"gone" is neither "add" nor "remove"'
            in refused("device", "node-2", "gone"))
    assert ('the device of "node-2" is there already'
            in refused("device", "node-2", "add"))
    subnet.ibemu("device", "node-2", "remove")  # nobody was attached
    assert ('the device of "node-2" is removed already'
            in refused("device", "node-2", "remove"))


def test_a_run_on_a_host_without_its_device_names_the_cure(subnet):
    subnet.ibemu("device", "node-2", "remove")
    done = subnet.run("node-2", "true", check=False)
    assert done.returncode == 125
    assert done.stderr == (
        'ibemu run: the device of "node-2" is removed: put it back with '
        '"ibemu device node-2 add"\n')
    subnet.ibemu("device", "node-2", "add")
    assert subnet.run("node-2", "ibstat", "-l").stdout == "ibemu0\n"


def test_help_knows_the_command(account):
    assert re.search(r"(?m)^  device +", account.run("ibemu", "help").stdout)
    text = account.run("ibemu", "device", "--help").stdout
    assert text.startswith("Usage: ibemu device NODE remove|add")
