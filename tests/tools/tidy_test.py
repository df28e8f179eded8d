#!/usr/bin/env python3
"""What tools/tidy.py remembers, and for how long."""

import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import tidy  # noqa: E402


class TidyTest(unittest.TestCase):
    """Entries by the time of their last use."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.memory = pathlib.Path(directory.name)

    def entry(self, name, used):
        (self.memory / name).touch()
        os.utime(self.memory / name, (used, used))

    def names(self):
        return sorted(entry.name for entry in self.memory.iterdir())

    def test_what_was_not_used_for_long_is_forgotten(self):
        self.entry("old", 99)
        self.entry("new", 100)
        tidy.forget(self.memory, before=100)
        self.assertEqual(self.names(), ["new"])

    def test_what_is_asked_for_stays(self):
        self.entry("asked", 1)
        self.entry("other", 1)
        self.assertTrue(tidy.is_clean(self.memory, "asked"))
        tidy.forget(self.memory, before=100)
        self.assertEqual(self.names(), ["asked"])

    def test_who_asks_for_an_unknown_one_makes_none(self):
        self.assertFalse(tidy.is_clean(self.memory, "unknown"))
        self.assertEqual(self.names(), [])

    def test_without_a_memory_there_is_nothing_to_forget(self):
        missing = self.memory / "missing"
        tidy.forget(missing, before=100)
        self.assertFalse(missing.exists())


if __name__ == "__main__":
    unittest.main()
