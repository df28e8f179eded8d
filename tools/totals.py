#!/usr/bin/python3
"""Sums up the JUnit files of a test run: 'N passed, N failed, N skipped'."""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def cases(directory):
    for path in sorted(pathlib.Path(directory).glob("*.xml")):
        for case in ElementTree.parse(path).iter("testcase"):
            name = f"{case.get('classname', path.stem)}: {case.get('name')}"
            skipped = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                yield "failed", name, ""
            elif skipped is not None:
                yield "skipped", name, skipped.get("message", "")
            else:
                yield "passed", name, ""


def main():
    count = {"passed": 0, "failed": 0, "skipped": 0}
    for outcome, name, why in cases(sys.argv[1]):
        count[outcome] += 1
        if outcome != "passed":
            print(f"{outcome}: {name}{': ' + why if why else ''}")
    print(", ".join(f"{number} {outcome}" for outcome, number in count.items()))
    return 0 if count["passed"] and not count["failed"] else 1


if __name__ == "__main__":
    sys.exit(main())
