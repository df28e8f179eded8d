"""ibemud.service, and what it leaves on the machine."""

import pathlib
import re

from harness import Background, DEADLINE

OPTIONS = pathlib.Path("/etc/default/ibemud")
# What a test changes in the unit; gone with the machine.
CHANGES = pathlib.Path("/run/systemd/system/ibemud.service.d/test.conf")


class Service:
    """Commands go to systemctl; programs run as root."""

    def __init__(self, root):
        self.root = root
        self._running = []

    def systemctl(self, *arguments, **options):
        return self.root.run("systemctl", *arguments, **options)

    def change(self, *lines):
        """Lines for the unit's section [Service]."""
        CHANGES.parent.mkdir(parents=True, exist_ok=True)
        CHANGES.write_text("\n".join(["[Service]", *lines, ""]))
        self.systemctl("daemon-reload")

    def start(self, options, check=True):
        OPTIONS.write_text(f'IBEMUD_OPTIONS="{options}"\n')
        done = self.systemctl("start", "ibemud", check=False)
        assert not check or done.returncode == 0, done.stderr + self.journal()
        return done

    def stop(self):
        for program in reversed(self._running):
            program.stop()
        self.systemctl("stop", "ibemud.service", "ibemud.socket", check=False)
        self.systemctl("reset-failed", "ibemud.service", "ibemud.socket",
                       check=False)
        if CHANGES.exists():
            CHANGES.unlink()
            self.systemctl("daemon-reload")

    def show(self, name):
        return self.systemctl("show", "--value", "--property", name,
                              "ibemud").stdout.strip()

    def kill(self, signal):
        """The daemon alone."""
        self.systemctl("kill", "--kill-who=main", f"--signal={signal}", "ibemud")

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


def leftovers():
    """Nodes, mounts and entries of /sys/class: what a stopped daemon owes."""
    nodes = pathlib.Path("/dev/infiniband").glob("*[0-9]")
    mounts = pathlib.Path("/proc/mounts").read_text().splitlines()
    entries = pathlib.Path("/sys/class").glob("infiniband*/*[0-9]")
    return [*map(str, nodes), *map(str, entries),
            *[mount for mount in mounts
              if re.search("fuse.ibemu|/run/ibemu/", mount)]]
