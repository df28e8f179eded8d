#!/usr/bin/env python3
"""Fails if a case of tests/umad_behaviour_cases.txt is named by no test, or a
test names a case that is not there."""

import fnmatch
import pathlib
import re
import sys

CASES = "tests/umad_behaviour_cases.txt"
RECORDED = "tests/e2e/umad_abi/linux.txt"  # what the program there tells
CASE = re.compile(r"([\w*]+)(?: \(([\w, ]+)\))?: \S")
# "// [case] [case]", with or without more, in the comment above a test.
NAMES = re.compile(r"// ((?:\[[\w*]+\][ :]?)+)")
MARKS = {"ours", "unit", "e2e"}


def read_cases(path):
    """The marks of each case."""
    cases = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        match = CASE.match(line)
        marks = set((match[2] or "").split(", ")) - {""} if match else set()
        if not match or match[1] in cases or marks - MARKS:
            raise SystemExit(f"{CASES}:{number}: one line a case, "
                             f"\"name (marks): what Linux does\": {line}")
        cases[match[1]] = marks
    return cases


def named_by_tests(root):
    """Each name in the comment above a unit test, and where."""
    for path in sorted(root.glob("tests/**/*_test.cc")):
        above = []
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line.startswith("TEST"):
                yield from above
            if not line.startswith("//"):
                above = []
            elif match := NAMES.match(line):
                where = f"{path.relative_to(root)}:{number}"
                above += [(name, where)
                          for name in re.findall(r"[\w*]+", match[1])]


def complaints(root):
    cases = read_cases(root / CASES)
    named = list(named_by_tests(root))
    recorded = [line.split(":")[0]
                for line in (root / RECORDED).read_text().splitlines()]

    for name, where in named:
        if name not in cases:
            yield f"{where}: [{name}] does not stand in {CASES}"
    tested = {name for name, _ in named}
    for name, marks in cases.items():
        if ("unit" in marks or "e2e" not in marks) and name not in tested:
            yield f"{CASES}: [{name}] is named by no unit test"
        if "e2e" in marks and not fnmatch.filter(recorded, name):
            yield f"{CASES}: [{name}] is not told in {RECORDED}"
    for name in recorded:
        if not any(fnmatch.fnmatch(name, case) for case in cases):
            yield f"{RECORDED}: {name} does not stand in {CASES}"


if __name__ == "__main__":
    sys.exit("\n".join(complaints(pathlib.Path(sys.argv[1]))) or 0)
