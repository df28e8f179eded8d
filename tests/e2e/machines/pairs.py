"""What two hosts of one fabric do together, wherever their daemons are."""

import json
import pathlib

import c_programs
from by_address import ended_well
from harness import SYSFS_PORT, until

NUMBERED = pathlib.Path(__file__).with_name("numbered.c")


def exchange(lab, host, client, *command):
    """Runs the command on `host`, its server, and by `client`, the command line
    prefix of another host.  Returns what the server prints."""
    server = lab.start(host, *command)

    def is_done():
        assert server.process.poll() in (None, 0), server.output
        return lab.account.run(*client, *command, "localhost",
                               check=False).returncode == 0

    until(is_done)
    assert server.wait() == 0, server.output
    return server.output


def connect_by_name(lab, host, client, count):
    """rping, by the name of the host that its server is on."""
    ask = ["rping", "-c", "-a", host, "-C", count]
    server = lab.start(host, "stdbuf", "-oL", "rping", "-s", "-C", count, "-v")

    def is_done():
        done = lab.account.run(*client, *ask, check=False)
        return ended_well(ask, done.returncode, done.stdout + done.stderr)

    until(is_done)
    assert ended_well(["rping"], server.wait(), server.output), server.output
    assert server.output.count("server ping data") == count


def numbered(directory):
    """The program, which two hosts run; see there what it checks itself."""
    program = directory / NUMBERED.stem
    if not program.exists():
        c_programs.compile_program(NUMBERED, program, ["librdmacm", "libibverbs"])
    return program


def start_numbered(lab, program, server, client, count, ack_timeout):
    """Both sides, connected."""
    ends = [lab.start(server, program, "server", count, ack_timeout)]
    ends[0].wait_for("listening")
    ends.append(lab.start(client, program, "client", server, count, ack_timeout))
    for end in ends:
        end.wait_for("connected")
    return ends


def counts(end):
    """What a side of `numbered` says at its end of what it sent and received."""
    assert end.wait() in (0, 1), end.output
    return json.loads(end.output.splitlines()[-1])


def state(lab, host):
    """Of its port, as sysfs has it: "ACTIVE"."""
    return lab.run(host, "cat", f"{SYSFS_PORT}/state").stdout.split()[-1]


def joined(lab, host):
    """What the head says of this joined host."""
    hosts = json.loads(lab.ibemu("status", "--json").stdout)["joined"]
    return next(other for other in hosts if other["node"] == host)


def leases(lab, host):
    """By how many leases this joined host sends to others."""
    return joined(lab, host)["leases"]
