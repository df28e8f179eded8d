"""Runs a program of perftest on two hosts."""

import contextlib
import functools
import pathlib
import random
import re
import signal
import socket
import subprocess
import time

LINES = ["stdbuf", "-oL"]  # tell at once what is printed


def free_port():
    """A port that nobody has, and no program's usual one; below those that the
    kernel gives to connections, so that none has it when the program listens.
    Where these begin early, any."""
    text = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text()
    given = int(text.split()[0])
    while True:
        port = random.SystemRandom().randrange(
            20000, given if given > 20000 else 60000)
        with socket.socket() as some, contextlib.suppress(OSError):
            some.bind(("", port))
            return port


@functools.cache
def ucx_perftest():
    """The command, and where UCX is built with MPI, as in Debian 13, that it is
    no MPI program here."""
    told = subprocess.run(["ucx_perftest", "-h"], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    mpi = re.search(r"^ *-P <0\|1>", told.stdout + told.stderr, re.M)
    return ["ucx_perftest", *(["-P", "0"] if mpi else [])]


def command_of(program, *options):
    # -F: no word about the processor's frequency.
    return [*LINES, program, "-F", "-p", str(free_port()), *options]


# perftest could not tell how fast the processor's clock is: it looks at it for
# some milliseconds, in which others may have the processor.
LOST_CLOCK = "Correlation coefficient"

# With -e it asks for the next event before it polls, so it may be told twice of
# one completion, as by mlx4 and mlx5 adapters.  The second time it finds none,
# and goes on all the same, where a test of latency has room for one request
# (https://github.com/linux-rdma/perftest/pull/203).
NO_ROOM = "Couldn't post send"


def play(fabric, program, *options, hosts=("node-1", "node-2"), ends=(0,)):
    """What client and server measured; `ends`: exit statuses that are right."""
    for _ in range(20):
        client, server = play_once(fabric, program, *options, hosts=hosts,
                                   ends=ends)
        if LOST_CLOCK not in client + server and NO_ROOM not in client + server:
            break
    assert results(client), client + server
    return results(client), results(server)


def play_once(fabric, program, *options, hosts, ends):
    command = command_of(program, *options)
    server = fabric.start(hosts[0], *command)
    server.wait_for("Waiting for client")
    by_events = "-e" in options
    # One that has ended so leaves the other waiting.
    limit = ["timeout", "30"] if by_events else []
    for _ in range(50):  # it listens just after that
        client = fabric.run(hosts[1], *limit, *command, "localhost", check=False)
        said = client.stdout + client.stderr
        if "Couldn't connect" not in said:
            break
        time.sleep(0.1)
    if by_events and NO_ROOM in said + server.output:
        server.stop(signal.SIGKILL)
        return said, server.output
    assert client.returncode in ends, said
    assert server.wait() in ends, server.output
    return said, server.output


def results(text):
    """The rows of numbers: size, iterations, what was measured.  A deviation may
    be -nan, where perftest takes the root of a rounded sum."""
    return [[0 if word == "-nan" else float(word) for word in row.split()]
            for row in re.findall(r"^ (\d+ +\d+ +(?:[\d. \t]|-nan)+)$", text,
                                  re.M)]


def check(rows, iterations):
    assert rows
    for size, count, *measured in rows:
        assert size >= 2 and count == iterations
        assert max(measured) > 0
