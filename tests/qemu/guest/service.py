"""The units of ibemu, and what they leave on the machine."""

import pathlib
import re

from harness import Background, DEADLINE

# Where each unit has its options from.
OPTIONS = {"ibemud": pathlib.Path("/etc/default/ibemud"),
           "ibemud@lab": pathlib.Path("/etc/ibemu/lab.conf")}


class Service:
    """Commands go to systemctl; programs run as root."""

    def __init__(self, root, unit="ibemud"):
        self.root = root
        self.unit = unit
        # What a test changes in the unit; gone with the machine.
        self._changes = pathlib.Path(
            f"/run/systemd/system/{unit}.service.d/test.conf")
        self._running = []

    def systemctl(self, *arguments, **options):
        return self.root.run("systemctl", *arguments, **options)

    def change(self, *lines):
        """Lines for the unit's section [Service]."""
        self._changes.parent.mkdir(parents=True, exist_ok=True)
        self._changes.write_text("\n".join(["[Service]", *lines, ""]))
        self.systemctl("daemon-reload")

    def start(self, options, check=True):
        OPTIONS[self.unit].write_text(f'IBEMUD_OPTIONS="{options}"\n')
        done = self.systemctl("start", self.unit, check=False)
        assert not check or done.returncode == 0, done.stderr + self.journal()
        return done

    def stop(self):
        for program in reversed(self._running):
            program.stop()
        units = f"{self.unit}.service", f"{self.unit}.socket"
        self.systemctl("stop", *units, check=False)
        self.systemctl("reset-failed", *units, check=False)
        if self._changes.exists():
            self._changes.unlink()
            self.systemctl("daemon-reload")

    def show(self, name):
        return self.systemctl("show", "--value", "--property", name,
                              self.unit).stdout.strip()

    def kill(self, signal):
        """The daemon alone."""
        self.systemctl("kill", "--kill-who=main", f"--signal={signal}",
                       self.unit)

    def journal(self):
        """What the programs of the last start have said."""
        start = f"_SYSTEMD_INVOCATION_ID={self.show('InvocationID')}"
        return self.root.run("journalctl", "--output=cat", start).stdout

    def run(self, *command, **options):
        return self.root.run(*command, **options)

    def background(self, *command, account=None):
        """A program that ends with the test."""
        self._running.append(Background(account or self.root, command))
        return self._running[-1]


class OneHost:
    """A service whose only host has all that the machine has."""

    def __init__(self, service):
        self._service = service

    def run(self, host, *command, **options):
        assert host == "node-1"
        return self._service.run(*command, **options)


def leftovers():
    """Nodes, mounts and entries of /sys/class: what a stopped daemon owes."""
    nodes = pathlib.Path("/dev/infiniband").glob("*[0-9]")
    mounts = pathlib.Path("/proc/mounts").read_text().splitlines()
    entries = pathlib.Path("/sys/class").glob("infiniband*/*[0-9]")
    return [*map(str, nodes), *map(str, entries),
            *[mount for mount in mounts
              if re.search("fuse.ibemu|/run/ibemu/", mount)]]
