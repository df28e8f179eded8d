#!/usr/bin/env python3
"""Fails if a folder includes a header from a folder it may not know."""

import pathlib
import re
import sys

MAY_INCLUDE = {
    "base": set(),
    "mad": {"base"},
    "verbs": {"base", "mad"},
    "fabric": {"base", "mad", "verbs"},
    "hca": {"base", "mad", "verbs"},
    "sysfs": {"base", "mad"},
    "cuse": {"base", "mad", "verbs", "sysfs"},
    "daemon": {"base", "mad", "verbs", "fabric", "hca", "sysfs", "cuse"},
    "testing": {"base", "mad", "verbs", "fabric", "hca", "sysfs", "cuse"},
}
# Headers that one folder alone may use.
ONLY_IN = {"fuse": "cuse", "liburing": "daemon"}
INCLUDE = re.compile(r'#include (?:"(\w+)/|<(fuse|liburing)\b)')


def violations(root):
    for layer, allowed in MAY_INCLUDE.items():
        for path in sorted((root / layer).rglob("*.[hc]*")):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                used, library = match.groups()
                where = f"{path.relative_to(root)}:{number}"
                if used in MAY_INCLUDE and used not in allowed | {layer}:
                    yield f"{where}: {layer}/ may not include {used}/"
                if library and layer not in (ONLY_IN[library], "testing"):
                    yield f"{where}: only {ONLY_IN[library]}/ may use {library}"


if __name__ == "__main__":
    sys.exit("\n".join(violations(pathlib.Path(sys.argv[1]))) or 0)
