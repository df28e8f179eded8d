#!/usr/bin/env python3
"""The closing line of a run."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOTALS = pathlib.Path(__file__).resolve().parents[2] / "tools" / "totals.py"
ONE_PASSED = '<testsuite><testcase classname="a" name="one"/></testsuite>'
ONE_FAILED = ('<testsuite><testcase classname="b" name="two"><failure/>'
              '</testcase></testsuite>')


class TotalsTest(unittest.TestCase):
    """Results of suites as their JUnit files say, and the suites that failed."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.results = pathlib.Path(directory.name)
        (self.results / "unit.xml").write_text(ONE_PASSED)

    def sum_up(self, *suites):
        done = subprocess.run([sys.executable, TOTALS, self.results, *suites],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines()

    def test_cases_are_counted(self):
        self.assertEqual(self.sum_up(), (0, ["1 passed, 0 failed, 0 skipped"]))

    def test_a_suite_that_fails_without_a_case_is_a_failure(self):
        self.assertEqual(self.sum_up("tidy"), (1, [
            "failed: tidy", "1 passed, 1 failed, 0 skipped"]))

    def test_a_suite_that_fails_with_its_cases_is_not_counted_twice(self):
        (self.results / "e2e.xml").write_text(ONE_FAILED)
        self.assertEqual(self.sum_up("e2e"), (1, [
            "failed: b: two", "1 passed, 1 failed, 0 skipped"]))


if __name__ == "__main__":
    unittest.main()
