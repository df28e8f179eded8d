"""What two hosts of one fabric do together, wherever their daemons are."""

import json

from harness import SYSFS_PORT, until


def exchange(lab, host, client, *command):
    """Runs the command on `host`, its server, and by `client`, the command line
    prefix of another host.  Returns what the server prints."""
    server = lab.start(host, *command)
    until(lambda: lab.account.run(*client, *command, "localhost",
                                  check=False).returncode == 0)
    assert server.wait() == 0, server.output
    return server.output


def connect_by_name(lab, host, client, count):
    """rping, by the name of the host that its server is on."""
    server = lab.start(host, "stdbuf", "-oL", "rping", "-s", "-C", str(count), "-v")
    until(lambda: lab.account.run(*client, "rping", "-c", "-a", host, "-C",
                                  str(count), check=False).returncode == 0)
    assert server.wait() == 0, server.output
    assert server.output.count("server ping data") == count


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
