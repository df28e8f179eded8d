"""Calls that go past FUSE, through rings: the same for a program, and seen by
who asks."""

import json
import os
import pathlib
import random
import signal
import subprocess

import pytest

from harness import until

HERE = pathlib.Path(__file__).parent
COUNT = 2000


def compiled(scratch, name, *flags):
    program = scratch / name
    if not program.exists():
        subprocess.run(["gcc", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror",
                        *flags, "-o", program, HERE / "fast_path_cases.c"],
                       check=True)
    return program


@pytest.fixture(scope="module")
def cases(scratch):
    return compiled(scratch, "fast_path_cases")


def clients(subnet):
    return json.loads(subnet.ibemu("status", "--json").stdout)["clients"]


def test_programs_see_no_difference(account, cases):
    def told(*options, trips, **variables):
        return account.run("ibemu", "run", *options, "--", cases, str(trips),
                           env={**account.environment, **variables}).stdout

    expected = told("--no-fast-path", trips=0)
    assert expected.count("\n") == 12
    assert told(trips=0) == expected
    assert told(trips=200) == expected
    assert told("--sched=batch", trips=200) == expected
    assert told(trips=200, IBEMU_FAST_PATH="0") == expected


def test_status_says_which_way_the_calls_went(fabric, cases):
    subnet = fabric("back-to-back")
    client = subnet.start("node-1", cases, str(COUNT), "-")
    client.wait_for("ready")
    [known] = clients(subnet)
    assert known["file"] == "umad of node-1, port 1"
    assert sum(known["sent"].values()) == COUNT
    # How many it is depends on the machine; on a busy one the daemon sleeps.
    assert known["sent"]["ring"] > 0 and known["received"]["ring"] > 0
    table = subnet.ibemu("status").stdout
    assert f"{known['sent']['ring']} of {COUNT}" in table
    client.stop()
    assert until(lambda: clients(subnet) == [])


@pytest.mark.parametrize("options, flags, variables", [
    (["--no-fast-path"], [], {}), ([], ["-static"], {}),
    ([], [], {"IBEMU_FAST_PATH": "0"})])
def test_who_wants_no_rings_or_can_have_none_has_the_file(
        fabric, background, scratch, options, flags, variables):
    subnet = fabric("back-to-back")
    program = compiled(scratch, "fast_path_cases" + "".join(flags), *flags)
    client = background(
        "ibemu", "run", f"--fabric={subnet.socket}", *options, "--", program,
        str(COUNT), "-", env={**subnet.account.environment, **variables})
    client.wait_for("ready")
    assert clients(subnet) == []


@pytest.mark.parametrize("asks", ["-", "."])
def test_a_client_that_waits_hears_of_the_daemons_death(
        fabric, background, cases, asks):
    subnet = fabric("back-to-back")
    client = background("ibemu", "run", f"--fabric={subnet.socket}", "--keep",
                        "--", cases, str(COUNT), asks)
    client.wait_for("ready")
    subnet.daemon.process.kill()
    assert client.wait_for("ended: 1")  # POLLERR


def test_a_client_that_is_stopped_goes_on(fabric, cases):
    subnet = fabric("back-to-back")
    stopped = subnet.start("node-1", cases, str(COUNT), "-")
    stopped.wait_for("ready")
    [known] = clients(subnet)
    subnet.account.run("kill", "-STOP", str(known["pid"]))
    other = subnet.start("node-2", cases, str(COUNT), "-")
    other.wait_for("ready")
    subnet.account.run("kill", "-CONT", str(known["pid"]))
    assert subnet.run("node-1", cases, "10").stdout.count("\n") == 12


@pytest.mark.deep
def test_clients_may_die_at_any_moment_of_500(fabric, cases):
    random.seed(5)
    subnet = fabric("single-switch:hosts=4")
    steady = subnet.start("node-1", cases, "200", "+")
    steady.wait_for("ready")
    living = []
    for round_ in range(500):
        client = subnet.start(f"node-{round_ % 3 + 2}", cases,
                              str(random.randrange(1, 300)), "+")
        living.append(client)
        if random.random() < 0.8:
            client.wait_for("ready")
        while len(living) > 4:
            victim = living.pop(random.randrange(len(living)))
            # The group: the launcher and the program itself.
            os.killpg(victim.process.pid, random.choice(
                [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM]))
            victim.process.wait()
        if round_ % 10 == 0:
            steady.wait_for("ready", since=steady.mark())
    assert "failed" not in steady.output
    for client in living:
        client.stop()
    steady.stop()
    assert until(lambda: clients(subnet) == [])


@pytest.mark.deep
def test_a_stopped_client_keeps_nobody_waiting(fabric, cases):
    random.seed(6)
    subnet = fabric("single-switch:hosts=4")
    steady = subnet.start("node-1", cases, "200", "+")
    steady.wait_for("ready")
    for round_ in range(50):
        client = subnet.start("node-2", cases, str(random.randrange(1, 300)), "+")
        client.wait_for("ready")
        os.killpg(client.process.pid, signal.SIGSTOP)
        steady.wait_for("ready", since=steady.mark())
        os.killpg(client.process.pid, signal.SIGCONT)
        client.wait_for("ready", since=client.mark())
        client.stop()
    assert "failed" not in steady.output


@pytest.mark.deep
def test_the_daemon_may_die_at_any_moment(fabric, cases):
    random.seed(7)
    for _ in range(30):
        subnet = fabric("single-switch:hosts=2")
        running = [subnet.start(f"node-{n}", cases, str(random.randrange(1, 50)),
                                "+") for n in (1, 2)]
        for client in running:
            client.wait_for("ready")
        subnet.daemon.process.kill()
        for client in running:
            client.wait()  # with the devices, and all that it has started
        subnet.stop()


def test_a_program_that_may_have_no_large_files_works(account, cases):
    script = f"ulimit -f 100; exec {cases} 20"
    told = account.run("ibemu", "run", "--", "bash", "-c", script).stdout
    assert told.count("\n") == 12


def test_a_program_with_a_dynamic_libasan_works(account, scratch):
    """Which ends a program where another library comes before it."""
    program = compiled(scratch, "fast_path_cases_asan", "-fsanitize=address")
    done = account.run("ibemu", "run", "--", program, "50")
    assert done.stdout.count("\n") == 12
    assert done.stderr == ""


def test_a_library_that_is_preloaded_already_comes_first(account, cases, scratch):
    source = scratch / "first.c"
    source.write_text("""
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <stdio.h>
        static int calls;
        __attribute__((destructor)) static void tell(void) {
          fprintf(stderr, "%d\\n", calls);
        }
        long write(int fd, const void *data, unsigned long size) {
          if (size == 320) ++calls;
          long (*next)(int, const void *, unsigned long) =
              dlsym(RTLD_NEXT, "write");
          return next(fd, data, size);
        }""")
    library = scratch / "first.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    done = account.run("ibemu", "run", "--", "sh", "-c",
                       f"echo $LD_PRELOAD; exec {cases} 50",
                       env={**account.environment, "LD_PRELOAD": str(library)})
    first, second = done.stdout.splitlines()[0].split(":")
    assert first == str(library) and second.endswith("/libibemu-preload.so")
    assert max(map(int, done.stderr.split())) >= 50


def test_a_run_within_a_run_adds_the_library_once(account):
    script = "echo $LD_PRELOAD; ibemu run -- sh -c 'echo $LD_PRELOAD'"
    outer, inner = account.run("ibemu", "run", "--", "sh", "-c",
                               script).stdout.splitlines()
    assert outer == inner and outer.count("libibemu-preload.so") == 1


def test_the_schedule_is_the_callers_or_batch(account):
    def policy(*options):
        return account.run("ibemu", "run", *options, "--", "chrt", "--pid",
                           "0").stdout.splitlines()[0].rsplit(" ", 1)[1]

    assert policy() == policy("--sched=inherit") == "SCHED_OTHER"
    assert policy("--sched=batch") == "SCHED_BATCH"
    wrong = account.run("ibemu", "run", "--sched=bach", "--", "true", check=False)
    assert wrong.returncode == 125
    assert 'there are "batch" and "inherit": did you mean "batch"?' in wrong.stderr
