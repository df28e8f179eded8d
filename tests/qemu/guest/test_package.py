"""The package comes and goes."""

import os
import pathlib

from service import leftovers


def installed_files(root):
    listed = root.run("dpkg", "-L", "ibemu").stdout.splitlines()
    return [path for path in listed if not pathlib.Path(path).is_dir()]


def test_an_installed_package_starts_nothing(package, root):
    for unit in ("ibemud.service", "ibemud.socket"):
        state = root.run("systemctl", "is-active", unit, check=False).stdout
        assert state == "inactive\n"
    assert leftovers() == []


def test_a_removed_package_takes_everything_with_it(cable):
    files = installed_files(cable.root)
    assert "/usr/sbin/ibemud" in files
    cable.run("apt-get", "purge", "--yes", "ibemu")
    assert leftovers() == []
    assert [path for path in files if os.path.lexists(path)] == []
    assert not os.path.exists("/run/ibemu/default.sock")
    units = cable.systemctl("list-units", "--all", "--plain", "--no-legend",
                            "ibemud*").stdout
    assert units == ""
