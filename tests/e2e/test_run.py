"""`ibemu run`: the life and death of a run, and what it leaves behind."""

import errno
import json
import os
import pathlib
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import time

import pytest

from harness import DEADLINE, gone, process, until
from profiles import usual

pytestmark = pytest.mark.both_accounts

root_alone = pytest.mark.parametrize("account", ["root"], indirect=True)
plain_alone = pytest.mark.parametrize("account", ["plain"], indirect=True)

CLASS = "/sys/class/infiniband"


def run(account, *command, options=(), **more):
    return account.run("ibemu", "run", *options, "--", *command, check=False,
                       **more)


def shell(account, script, **more):
    return run(account, "sh", "-c", script, **more)


@pytest.fixture
def start(background):
    def start(script, options=()):
        return background("ibemu", "run", *options, "--", "sh", "-c", script)
    return start


def listener(path):
    """The pid of the daemon behind a control socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(str(path))
        credentials = connection.getsockopt(socket.SOL_SOCKET,
                                            socket.SO_PEERCRED, 12)
    return struct.unpack("3i", credentials)[0]


def daemon_of(program):
    """The pid of the daemon behind a program that printed $IBEMU_FABRIC."""
    path = program.wait_for(r"fabric=(\S+)").group(1)
    return listener(path), pathlib.Path(path)


@pytest.fixture
def fifo(account):
    """Makes named pipes that the account may use."""
    def make(name):
        path = account.home / name
        os.mkfifo(path)
        os.chown(path, account.home.stat().st_uid, account.home.stat().st_gid)
        return path
    return make


# Exit status ---------------------------------------------------------------


@pytest.mark.parametrize("status", [0, 7, 255])
def test_the_exit_status_is_the_commands(account, status):
    assert shell(account, f"exit {status}").returncode == status


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL,
                                    signal.SIGSEGV])
def test_it_dies_of_the_signal_that_killed_the_command(account, number):
    done = shell(account, f"kill -{int(number)} $$")
    assert done.returncode == -number
    assert "daemon" not in done.stderr


def test_a_missing_command_is_127(account):
    done = run(account, "no-such-command")
    assert done.returncode == 127
    assert "no-such-command" in done.stderr


def test_a_command_that_may_not_run_is_126(account):
    assert run(account, "/etc/passwd").returncode == 126


def test_a_topology_that_does_not_exist_is_125(account):
    done = run(account, "true", options=["--topology=no-such.net"])
    assert done.returncode == 125
    assert "no-such.net" in done.stderr


def test_a_host_that_does_not_exist_is_125(account):
    done = run(account, "true", options=["--host=node-99"])
    assert done.returncode == 125
    assert "node-99" in done.stderr


def test_a_fabric_that_does_not_exist_is_125(account):
    done = run(account, "true", options=["--fabric=nosuchfabric"])
    assert done.returncode == 125
    assert "nosuchfabric" in done.stderr


# What the command sees ------------------------------------------------------


def test_one_active_port(account):
    out = run(account, "ibstat").stdout
    assert out.count("Port ") >= 1
    assert "State: Active" in out
    assert "Link layer: InfiniBand" in out


def test_the_command_keeps_streams_directory_and_environment(account):
    script = "cat; pwd; echo $COLOUR; umask; echo err >&2; env | grep ^IBEMU"
    done = shell(account, script, input="through\n", cwd="/",
                 env={**account.environment, "COLOUR": "red"})
    lines = done.stdout.splitlines()
    assert lines[:3] == ["through", "/", "red"]
    assert lines[3] == subprocess.run(["sh", "-c", "umask"], check=True,
                                      capture_output=True,
                                      text=True).stdout.strip()
    assert done.stderr == "err\n"
    assert sorted(line.split("=")[0] for line in lines[4:]) == [
        "IBEMU_FABRIC", "IBEMU_HOST"]


def test_the_command_inherits_no_descriptor_of_the_launcher(account):
    done = shell(account, "exec ls /proc/self/fd", stdin=subprocess.DEVNULL)
    assert done.stdout.split() == ["0", "1", "2", "3"]  # 3: ls reads it


def test_closed_standard_streams_stay_closed(account):
    done = account.run("sh", "-c", "exec ibemu run -- ls -l /proc/self/fd <&-")
    assert "null" not in done.stdout
    assert "socket" not in done.stdout
    assert "fuse" not in done.stdout


def test_a_daemon_has_a_standard_error_where_its_run_has_none(background):
    run = background("sh", "-c", "exec ibemu run -- "
                     "sh -c 'echo launcher $PPID; exec sleep 300' 2>&-")
    launcher = pathlib.Path("/proc", run.wait_for(r"launcher (\d+)")[1])
    children = [pathlib.Path("/proc", pid) for pid in (
        launcher / f"task/{launcher.name}/children").read_text().split()]
    assert [os.readlink(child / "fd/2") for child in children
            if (child / "comm").read_text() == "ibemud\n"] == ["/dev/null"]


def test_a_working_directory_below_sys_shows_the_devices(account):
    done = run(account, "ls", "infiniband", cwd="/sys/class")
    assert done.stdout.split() == ["ibemu0"]


@pytest.mark.parametrize("missing", ["XDG_RUNTIME_DIR", "HOME"])
def test_it_does_without(account, missing):
    environment = account.environment
    del environment[missing]
    done = run(account, "ls", CLASS, env=environment, cwd="/")
    assert done.stdout.split() == ["ibemu0"]


def test_device_nodes_are_as_private_as_linux_makes_them(account):
    done = run(account, "stat", "-c", "%a %u", "/dev/infiniband/umad0")
    mode, owner = done.stdout.split()
    assert mode == "600"
    assert int(owner) == account.home.stat().st_uid


def test_class_entries_lead_to_a_pci_function(account):
    done = shell(account, f"cd -P {CLASS}/ibemu0/device && pwd && "
                 "cat vendor && ls -d /sys/bus/pci/devices/$(basename $PWD)")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("/sys/devices/pci")
    assert lines[1] == f"0x{usual().vendor:04x}"
    assert len(lines) == 3, done.stderr


def test_the_machines_own_devices_stay(account):
    before = sorted(os.listdir("/sys/class/net"))
    script = "ls /sys/class/net && cat /sys/devices/system/cpu/online"
    lines = shell(account, script).stdout.split()
    assert lines[:-1] == before
    assert lines[-1] == pathlib.Path(
        "/sys/devices/system/cpu/online").read_text().strip()


def test_node_desc_is_writable(account):
    script = f"printf renamed > {CLASS}/ibemu0/node_desc && cat {CLASS}/*/node_desc"
    assert shell(account, script).stdout == "renamed\n"


def test_the_rdma_netlink_is_refused_and_other_netlinks_are_not(account):
    script = (
        "import socket\n"
        "try: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 20)\n"
        "except OSError as error: print(error.errno)\n"
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)\n")
    done = run(account, "/usr/bin/python3", "-c", script)
    assert done.stdout == f"{errno.EPROTONOSUPPORT}\n"
    assert done.returncode == 0, done.stderr


def test_new_terminals_work(account):
    script = ("import os, pty\n"
              "master, slave = pty.openpty()\n"
              "print(os.path.exists(os.ttyname(slave)), os.isatty(slave))\n")
    done = run(account, "/usr/bin/python3", "-c", script)
    assert done.stdout == "True True\n", done.stderr


# Nested runs ----------------------------------------------------------------


def test_a_nested_run_finds_the_fabric_of_the_outer_one(account):
    script = (f"cat {CLASS}/*/node_guid; echo $IBEMU_HOST;"
              f"ibemu run --host=node-2 -- sh -c "
              f"'cat {CLASS}/*/node_guid; echo $IBEMU_HOST';"
              f"cat {CLASS}/*/node_guid; echo $IBEMU_HOST")
    lines = shell(account, script).stdout.split()
    assert len(lines) == 6
    outer, inner, after = lines[:2], lines[2:4], lines[4:]
    assert outer == after
    assert inner[0] != outer[0]
    assert [outer[1], inner[1]] == ["node-1", "node-2"]


def test_a_nested_run_without_host_is_on_the_same_host(account):
    done = run(account, "ibemu", "run", "--", "sh", "-c", "echo $IBEMU_HOST",
               options=["--host=node-2"])
    assert done.stdout == "node-2\n"


@pytest.mark.plain_account
def test_nested_runs_show_nothing_of_the_outer_ones(account):
    nest = ["ibemu", "run", "--host=node-2", "--"]
    script = ("echo $(ls /sys/class/infiniband /dev/infiniband"
              " /sys/devices/pci1bed:00) $(ls -d /sys/bus/pci/devices/1bed*)")
    outer = ["--topology=single-switch:hosts=3",
             "--host=node-1", "--host=node-3"]
    two = run(account, "sh", "-c", script, options=outer).stdout
    one = run(account, *nest, "sh", "-c", script, options=outer).stdout
    deep = run(account, *nest, *nest, *nest, "sh", "-c", script,
               options=outer).stdout
    assert "ibemu1" in two and "umad1" in two and "1bed:00:01.0" in two
    assert "ibemu1" not in one and "umad1" not in one
    assert "1bed:00:01.0" not in one
    assert deep == one


def test_a_nested_run_may_have_a_fabric_of_its_own(account):
    done = run(account, "ibemu", "run", "--topology=single-switch:hosts=8",
               "--host=node-8", "--", "sh", "-c", "echo $IBEMU_HOST; ibstat -l")
    assert done.stdout.split() == ["node-8", "ibemu0"], done.stderr


# Signals --------------------------------------------------------------------

TRAP = "trap 'echo got; exit 3' {0}; echo ready; while :; do read line; done"


@pytest.mark.parametrize("name", ["TERM", "HUP", "USR1", "USR2", "WINCH"])
def test_signals_reach_the_command(start, name):
    program = start(TRAP.format(name))
    program.wait_for("ready")
    program.signal(getattr(signal, f"SIG{name}"))
    assert program.wait() == 3
    assert program.output == "ready\ngot\n"


def test_sigint_for_the_launcher_alone_is_ignored(start):
    program = start(TRAP.format("TERM"))
    program.wait_for("ready")
    program.signal(signal.SIGINT)
    program.signal(signal.SIGTERM)
    assert program.wait() == 3


class Terminal:
    """An interactive shell on a terminal of its own."""

    def __init__(self, account):
        self.master, slave = pty.openpty()
        self.process = account.popen(
            ["setsid", "--ctty", "bash", "--norc", "--noprofile", "-i"],
            stdin=slave, stdout=slave, stderr=slave,
            env={**account.environment, "PS1": "$ "})
        os.close(slave)
        self.text = ""
        self.at = 0

    def type(self, text):
        os.write(self.master, text.encode())

    def expect(self, text):
        deadline = time.monotonic() + DEADLINE
        while text not in self.text[self.at:]:
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self.master], [], [], max(left, 0))
            assert ready, f"no {text!r} in:\n{self.text}"
            self.text += os.read(self.master, 4096).decode(errors="replace")
        self.at = self.text.index(text, self.at) + len(text)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


@pytest.fixture
def terminal(account):
    made = Terminal(account)
    yield made
    made.close()


def test_control_c_reaches_the_command_once(terminal):
    script = 'trap "n=x\\$n" INT; echo rea""dy; until read l; do :; done; echo n=$n.'
    terminal.type(f"ibemu run -- bash -c '{script}'\n")
    terminal.expect("ready\r\n")
    terminal.type("\x03")
    terminal.type("end\n")
    terminal.expect("n=x.")


def test_control_c_ends_a_command_that_does_not_care(terminal):
    terminal.type("ibemu run -- sh -c 'echo rea\"\"dy; exec cat'\n")
    terminal.expect("ready\r\n")
    terminal.type("\x03")
    terminal.expect("$ ")
    terminal.type("echo status=$?.\n")
    terminal.expect("status=130.")


def test_job_control(terminal):
    terminal.type("ibemu run -- sh -c 'echo rea\"\"dy; exec cat'\n")
    terminal.expect("ready\r\n")
    terminal.type("\x1a")
    terminal.expect("Stopped")
    terminal.expect("$ ")
    terminal.type("jobs -s | wc -l | sed s/^/stopped=/\n")
    terminal.expect("stopped=1")
    terminal.type("fg\n")
    terminal.expect("exec cat'\r\n")
    terminal.type("hello\n")
    terminal.expect("hello\r\nhello\r\n")
    terminal.type("\x04")
    terminal.expect("$ ")
    terminal.type("echo status=$?.\n")
    terminal.expect("status=0.")


# Ends -----------------------------------------------------------------------


def test_an_orphan_loses_the_devices_when_the_command_ends(account, fifo):
    leave, go, answer = fifo("leave"), fifo("go"), fifo("answer")
    orphan = (f"ls /dev/infiniband > {answer}; read line < {go}; "
              f"ls /dev/infiniband > {answer} 2>&1")
    program = account.popen(
        ["ibemu", "run", "--", "sh", "-c",
         f"setsid sh -c '{orphan}' < /dev/null > /dev/null 2>&1 & "
         f"read line < {leave}"])
    assert "umad0" in answer.read_text()
    leave.write_text("\n")
    assert program.wait(DEADLINE) == 0
    go.write_text("\n")
    assert "not connected" in answer.read_text()


ASK = ("echo fabric=$IBEMU_FABRIC; read line < {go}; "
       "ls /dev/infiniband 2>&1; exit 5")


def test_a_killed_launcher_takes_the_private_daemon_with_it(account, start,
                                                            fifo):
    go = fifo("go")
    program = start(ASK.format(go=go))
    pid, path = daemon_of(program)
    with process(pid) as daemon:
        program.signal(signal.SIGKILL)
        assert program.process.wait() == -signal.SIGKILL
        assert gone(daemon)
    assert not path.exists()
    go.write_text("\n")
    program.wait_for("not connected")


def test_a_killed_daemon_leaves_a_command_alone_that_is_kept(account, start,
                                                             fifo):
    go = fifo("go")
    program = start(ASK.format(go=go), options=["--keep"])
    pid, path = daemon_of(program)
    os.kill(pid, signal.SIGKILL)
    program.wait_for("the daemon has ended")
    go.write_text("\n")
    assert program.wait() == 5
    assert "not connected" in program.output
    assert not list(path.parent.glob(path.name + "*"))


def test_what_both_left_when_killed_is_swept_by_the_next_run(account, start):
    program = start("echo fabric=$IBEMU_FABRIC; exec sleep 1000")
    pid, path = daemon_of(program)
    assert path.exists()
    with process(pid) as daemon:
        program.signal(signal.SIGSTOP)
        os.kill(pid, signal.SIGKILL)
        # From then on another test's run may be the next one.
        assert gone(daemon)
        program.signal(signal.SIGKILL)
        program.process.wait()
    run(account, "true")
    assert not list(path.parent.glob(path.name + "*"))


LOSES = ("trap 'echo asked; exit 0' TERM; setsid sleep 1000 & echo orphan=$!; "
         "echo fabric=$IBEMU_FABRIC; while :; do sleep 0.1; done")


def test_a_killed_daemon_ends_the_command_and_what_it_started(account, start):
    program = start(LOSES)
    with process(int(program.wait_for(r"orphan=(\d+)")[1])) as orphan:
        pid, path = daemon_of(program)
        os.kill(pid, signal.SIGKILL)
        assert program.wait() == 125
        assert gone(orphan)
    assert "the daemon has ended" in program.output
    assert "asked\n" in program.output
    assert not list(path.parent.glob(path.name + "*"))


def test_a_terminated_shared_daemon_ends_the_command(fabric):
    made = fabric("back-to-back", sm="static")
    program = made.start("node-1", "sh", "-c", LOSES)
    program.wait_for("fabric=")
    made.daemon.stop()
    assert program.wait() == 125
    assert "asked\n" in program.output


@pytest.mark.parametrize("options", [[], ["--fabric=own"]])
def test_a_command_that_stops_the_daemon_last_keeps_its_status(account, start,
                                                               background,
                                                               options):
    if options:
        background("ibemud", "--topology=back-to-back", "--name=own")
        until(lambda: account.run("ibemu", "status", "--fabric=own",
                                  check=False).returncode == 0)
    program = start("ibemu stop; exit 3", options)
    assert program.wait() == 3, program.output


ERRORS = re.compile(r"^\w+ \d+ \d\d:(\d\d):(\d\d) .* ERR 5404:", re.MULTILINE)


@pytest.mark.plain_account
def test_opensm_ends_with_the_daemon(fabric):
    """It writes "ERR 5404" for ever, and SIGTERM may find its log locked."""
    made = fabric("back-to-back")
    opensm = made.start_opensm("node-1")
    made.daemon.stop()
    assert opensm.wait(timeout=60) == 125
    assert "the daemon has ended" in opensm.output


@pytest.mark.plain_account
def test_an_opensm_that_is_kept_does_not_spin(fabric, background):
    """It writes a line for each read() that fails: without rings 100,000 of
    them a second."""
    made = fabric("back-to-back")
    opensm = background(
        "ibemu", "run", f"--fabric={made.socket}", "--host=node-1", "--keep",
        "--", "opensm", "--log_file", "stdout",
        "--pidfile", made.account.home / "opensm.pid")
    try:
        opensm.wait_for("SUBNET UP")
        made.daemon.stop(signal.SIGKILL)
        times = until(lambda: (lines := ERRORS.findall(opensm.output))[3:] and
                      [60 * int(minute) + int(second)
                       for minute, second in lines[:4]])
    finally:
        opensm.stop(signal.SIGKILL)  # SIGTERM may find its log locked
    assert (times[3] - times[0]) % 3600 >= 2


def test_a_killed_launcher_leaves_a_shared_daemon_alone(fabric, fifo):
    made = fabric("back-to-back", sm="static")
    go = fifo("go")
    program = made.start("node-1", "sh", "-c", ASK.format(go=go))
    program.wait_for("fabric=")
    program.signal(signal.SIGKILL)
    program.process.wait()
    # The daemon hears of it a little later.
    until(lambda: not json.loads(
        made.ibemu("status", "--json").stdout)["views"])
    go.write_text("\n")
    program.wait_for("not connected")
    assert made.run("node-1", "ibstat", "-l").stdout == "ibemu0\n"


def surroundings(account):
    places = ["/tmp", "/run", "/run/ibemu", "/dev", "/dev/shm", account.home,
              account.home / "run", account.home / "run" / "ibemu"]
    shared = ("/tmp", "/run", "/dev/shm")  # others work there, too
    found = {str(place): sorted(name for name in os.listdir(place)
                                if "ibemu" in name or str(place) not in shared)
             for place in map(pathlib.Path, places) if place.is_dir()}
    found["mounts"] = pathlib.Path("/proc/self/mounts").read_text()
    return found


# It looks into places that all runs share.
@pytest.mark.alone
def test_nothing_is_left_behind(account):
    run(account, "true")  # makes the socket directory
    before = surroundings(account)
    run(account, "ibstat")
    run(account, "no-such-command")
    run(account, "true", options=["--host=node-99"])
    run(account, "true", options=["--topology=no-such.net"])
    shell(account, "kill -9 $$")
    assert surroundings(account) == before


# Other surroundings ---------------------------------------------------------


def root_only(account):
    if os.geteuid() != 0:
        pytest.skip("preparing the machine needs root")
    return account.prefix


def in_changed_machine(account, preparation, *command):
    """Runs a command after `preparation` as root in a mount namespace."""
    prefix = root_only(account)
    script = preparation + '\nexec "$@"'
    return subprocess.run(
        ["unshare", "--mount", "sh", "-ec", script, "sh", *prefix, *command],
        capture_output=True, text=True, check=False, timeout=DEADLINE,
        env=account.environment, cwd=account.home)


OWN_DEV = """
mount -t tmpfs -o mode=755 tmpfs /dev
mknod -m 666 /dev/null c 1 3
mknod -m 666 /dev/fuse c 10 229
"""


def test_a_dev_infiniband_that_exists_is_covered(account):
    done = in_changed_machine(
        account, OWN_DEV + "mkdir /dev/infiniband; touch /dev/infiniband/umad9",
        "ibemu", "run", "--", "sh", "-c", "ls /dev/infiniband; ls -A /dev")
    assert done.returncode == 0, done.stderr
    assert "umad0" in done.stdout and "umad9" not in done.stdout
    assert ".host" not in done.stdout


def test_a_read_only_sys(account):
    done = in_changed_machine(
        account, "mount --bind /sys /sys; mount -o remount,bind,ro /sys",
        "ibemu", "run", "--", "ibstat", "-l")
    assert done.stdout == "ibemu0\n", done.stderr


def test_a_read_only_working_directory(account):
    done = in_changed_machine(
        account, f"mount --bind {account.home} {account.home}; "
        f"mount -o remount,bind,ro {account.home}; cd {account.home}",
        "env", "XDG_RUNTIME_DIR=", "ibemu", "run", "--", "ibstat", "-l")
    assert done.stdout == "ibemu0\n", done.stderr


def test_a_read_only_tmp(account):
    """As in many containers."""
    done = in_changed_machine(
        account, "mount -t tmpfs -o mode=1777 tmpfs /dev/shm; "
        "mount --bind /tmp /tmp; mount -o remount,bind,ro /tmp; cd /",
        "env", "XDG_RUNTIME_DIR=", "ibemu", "run", "--", "sh", "-c",
        "ibstat -l; ibemu status | head -n 1; echo $IBEMU_FABRIC")
    assert done.returncode == 0, done.stderr
    port, status, socket_path = done.stdout.splitlines()
    assert port == "ibemu0" and status
    assert socket_path.startswith(
        "/run/ibemu/" if account.name == "root" else "/dev/shm/ibemu-")


@pytest.mark.parametrize("command", ["run -- true", "doctor"])
def test_a_missing_dev_fuse_is_named_with_the_cure(account, command):
    done = in_changed_machine(account, OWN_DEV + "rm /dev/fuse",
                              "ibemu", *command.split())
    assert done.returncode == (125 if command.startswith("run") else 1)
    text = done.stderr + done.stdout
    assert "/dev/fuse" in text and "modprobe fuse" in text


@plain_alone  # root may open it whatever its mode
def test_a_closed_dev_fuse_is_named_with_the_cure(account):
    done = in_changed_machine(account, OWN_DEV + "chmod 600 /dev/fuse",
                              "ibemu", "run", "--", "true")
    assert done.returncode == 125
    assert "chmod 666 /dev/fuse" in done.stderr


@root_alone  # who may prepare the machine; the command itself may nothing
@pytest.mark.parametrize("command", ["run -- true", "doctor"])
def test_forbidden_namespaces_are_named_with_the_cure(account, command):
    # The limit of a namespace below, so that the machine's stays.
    done = account.run(
        "unshare", "--user", "--map-root-user", "sh", "-ec",
        "echo 0 > /proc/sys/user/max_user_namespaces; "
        "exec setpriv --inh-caps=-all --bounding-set=-all -- "
        f"ibemu {command}", check=False)
    assert done.returncode == (125 if command.startswith("run") else 1)
    assert "user.max_user_namespaces" in done.stderr + done.stdout


# Other users ----------------------------------------------------------------


@root_alone  # a plain user's namespace has one user
def test_a_child_of_root_may_change_its_user(account):
    script = f"cat {CLASS}/ibemu0/node_type; cat /dev/infiniband/umad0"
    done = run(account, "setpriv", "--reuid=65534", "--regid=65534",
               "--clear-groups", "--", "sh", "-c", script)
    assert done.stdout == "1: CA\n"
    assert "Permission denied" in done.stderr


@root_alone  # a plain user's namespace has one user
def test_a_setgid_child_of_root(account):
    done = run(account, "setpriv", "--regid=1", "--clear-groups", "--", "ibstat",
               "-l")
    assert done.stdout == "ibemu0\n"


@root_alone  # needs a second user
def test_another_users_daemon_is_refused(account, fabric):
    made = fabric("back-to-back", sm="static")
    done = account.run("setpriv", "--reuid=65534", "--regid=65534",
                       "--clear-groups", "--", "ibemu", "run",
                       f"--fabric={made.socket}", "--", "true", check=False)
    assert done.returncode == 125
    assert done.stderr.count("\n") == 1
