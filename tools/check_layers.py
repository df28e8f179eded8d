#!/usr/bin/env python3
"""Fails if a folder includes a header from a folder it may not know, or asks
the clock, chance or sleep behind the back of Timers and Random."""

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
# Time and chance are constructor arguments; only daemon/ has the real ones.
FORBIDDEN = re.compile(
    r"\babsl::(Now|SleepFor|GetCurrentTimeNanos|BitGen)\b|_clock::now\b|"
    r"\brandom_device\b|_distribution\b|"
    r"\b(nano|u)?sleep\(|\bsleep_for\b|\bclock_gettime\b|\brand\(")
INCLUDE = re.compile(r'#include (?:"(\w+)/|<(fuse|liburing)\b)')


def violations(root):
    for layer, allowed in MAY_INCLUDE.items():
        for path in sorted((root / layer).rglob("*.[hc]*")):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if layer != "daemon" and FORBIDDEN.search(line.split("//")[0]):
                    yield (f"{path.relative_to(root)}:{number}: "
                           "time and chance come from base/")
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
