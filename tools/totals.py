#!/usr/bin/python3
"""Sums up the JUnit files of a test run: 'N passed, N failed, N skipped'.

SUITE.again.xml has what failed in SUITE.xml and was tried once more: its
outcome counts, and who passed only then is named.  SUITES are those that failed:
one without a failed case (a lint, say) is a failure by itself.

totals.py DIRECTORY [SUITE]...
totals.py --failed FILE: the cases of a file that failed, as pytest wants to have
them named."""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree

AGAIN = ".again"


def outcome_of(case):
    skipped = case.find("skipped")
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed", ""
    if skipped is not None:
        return "skipped", skipped.get("message", "")
    return "passed", ""


def cases(path):
    suite = path.stem.removesuffix(AGAIN)
    for case in ElementTree.parse(path).iter("testcase"):
        yield f"{case.get('classname', suite)}: {case.get('name')}", case


def failed_ids(path):
    return list(dict.fromkeys(
        f"{case.get('classname').replace('.', '/')}.py::{case.get('name')}"
        for _, case in cases(path) if outcome_of(case)[0] == "failed"))


def outcomes(directory):
    """By suite and name, in both passes.  A case may have several entries: one
    of its teardown, for instance."""
    found, unsteady = {}, set()
    paths = pathlib.Path(directory).glob("*.xml")
    for path in sorted(paths, key=lambda path: (AGAIN in path.name, path)):
        again = AGAIN in path.name
        suite = path.stem.removesuffix(AGAIN)
        here = {}
        for name, case in cases(path):
            here.setdefault((suite, name), []).append(outcome_of(case))
        if again:
            unsteady |= {key for key, all_of_it in here.items()
                         if all(what != "failed" for what, _ in all_of_it)}
        found |= here
    return found, unsteady


def main():
    if sys.argv[1] == "--failed":
        for name in failed_ids(pathlib.Path(sys.argv[2])):
            print(name)
        return 0
    count = {"passed": 0, "failed": 0, "skipped": 0}
    found, unsteady = outcomes(sys.argv[1])
    for key, all_of_it in found.items():
        for outcome, why in all_of_it:
            count[outcome] += 1
            if outcome != "passed":
                print(f"{outcome}: {key[1]}{': ' + why if why else ''}")
    for _, name in sorted(unsteady):
        print(f"unsteady: {name}: failed beside other suites, passed by itself")
    with_cases = {suite for (suite, _), all_of_it in found.items()
                  if any(what == "failed" for what, _ in all_of_it)}
    for suite in sys.argv[2:]:
        if suite not in with_cases:
            count["failed"] += 1
            print(f"failed: {suite}")
    print(", ".join(f"{number} {outcome}" for outcome, number in count.items()))
    return 0 if count["passed"] and not count["failed"] else 1


if __name__ == "__main__":
    sys.exit(main())
