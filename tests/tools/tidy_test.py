#!/usr/bin/env python3
"""What tools/tidy.py looks at, what it remembers, and for how long."""

import json
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

    def test_where_the_tree_is_does_not_matter(self):
        def digest(name, text):
            path = self.memory / name
            path.write_text(text)
            return tidy.digest(path)

        here = digest("here", f"#include<{ROOT}/build/../a.cc>\n")
        self.assertEqual(here, digest("elsewhere", "#include</build/../a.cc>\n"))
        self.assertNotEqual(here, digest("other", "#include</build/../b.cc>\n"))

    def test_without_a_memory_there_is_nothing_to_forget(self):
        missing = self.memory / "missing"
        tidy.forget(missing, before=100)
        self.assertFalse(missing.exists())


class SourcesTest(unittest.TestCase):
    """Which files are looked at, and by which checks."""

    def compiled(self, *files):
        build = ROOT / "build/none"
        commands = [{"directory": str(build), "file": file, "command": "c++ -c"}
                    for file in files]
        with tempfile.TemporaryDirectory() as directory:
            place = pathlib.Path(directory)
            (place / "compile_commands.json").write_text(json.dumps(commands))
            return sorted(map(str, tidy.compiled(place)))

    def test_sources_and_joined_ones_are_looked_at_and_generated_ones_are_not(
            self):
        found = self.compiled("../../mad/smp.cc", "mad/libmad-unity0.cpp",
                              "daemon/web/page_files.cpp")
        self.assertEqual(found, ["build/none/mad/libmad-unity0.cpp",
                                 "mad/smp.cc"])

    def test_joined_files_have_the_checks_of_their_room(self):
        build = ROOT / "build/tidy-all"

        def checks(name):
            return tidy.options(pathlib.Path(name), build, "some")
        self.assertEqual(checks("build/tidy-all/mad/mad-unity0.cpp"),
                         ["--checks=some"])
        self.assertEqual(checks("mad/smp.cc"), ["--checks=some"])
        for room in "bench", "tests":
            for name in f"build/tidy-all/{room}/a-unity0.cpp", f"{room}/b/c.cc":
                self.assertEqual(checks(name),
                                 [f"--checks=some,{tidy.checks_of(room)}"])
        self.assertIn("-clang-analyzer-*", tidy.checks_of("tests"))


if __name__ == "__main__":
    unittest.main()
