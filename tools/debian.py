"""Debian's packages, for the machines and systems that are made of them."""

import pathlib
import subprocess

LIST = pathlib.Path(__file__).with_name("packages.txt")


def packages(*sections):
    """The names in these sections of tools/packages.txt, each once."""
    found, section = {}, None
    for line in LIST.read_text().splitlines():
        if line.startswith("["):
            section = line[1:-1]
        elif section in sections and line and not line.startswith("#"):
            found[line] = None
    return sorted(found)


def mirrors(release=None):
    """Where apt gets Debian's packages on this machine, as a sources.list; of
    another release than this machine's, its main archive alone."""
    lines = subprocess.run(
        ["apt-get", "indextargets", "Identifier: Packages", "Origin: Debian",
         "--format", "deb $(REPO_URI) $(RELEASE) $(COMPONENT)"],
        check=True, capture_output=True, text=True).stdout
    if release is None:
        return lines
    archives = sorted({line.split()[1] for line in lines.splitlines()
                       if "-" not in line.split()[2]})
    return "".join(f"deb {archive} {release} main\n" for archive in archives)
