#!/usr/bin/env python3
"""What becomes of the files in which Meson joins sources."""

import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "tools/relative_sources.py"
LONG_AGO = 1_000_000_000


class RelativeSourcesTest(unittest.TestCase):

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.tree = pathlib.Path(directory.name).resolve() / "build/release"
        self.file = self.tree / "mad/libmad.a.p/mad-unity0.cpp"
        self.file.parent.mkdir(parents=True)

    def join(self, *sources):
        """As Meson does."""
        self.file.write_text("".join(
            f"#include<{self.tree}/../../mad/{source}>\n" for source in sources))

    def rewrite(self):
        subprocess.run([PROGRAM, self.tree], check=True)

    def test_sources_are_named_as_the_tree_sees_them(self):
        self.join("smi.cc", "rmpp.cc")
        self.rewrite()
        self.assertEqual(self.file.read_text(), "#include<../../mad/smi.cc>\n"
                                                "#include<../../mad/rmpp.cc>\n")

    def test_a_file_that_is_written_anew_has_the_time_that_it_had(self):
        self.join("smi.cc")
        self.rewrite()
        kept = self.file.with_suffix(".relative")
        os.utime(kept, (LONG_AGO, LONG_AGO))
        self.join("smi.cc")
        self.rewrite()
        self.assertEqual(self.file.stat().st_mtime, LONG_AGO)
        self.join("smi.cc", "rmpp.cc")
        self.rewrite()
        self.assertGreater(self.file.stat().st_mtime, LONG_AGO)

    def test_a_file_that_was_rewritten_is_left_alone(self):
        self.join("smi.cc")
        self.rewrite()
        os.utime(self.file, (LONG_AGO, LONG_AGO))
        self.rewrite()
        self.assertEqual(self.file.stat().st_mtime, LONG_AGO)


if __name__ == "__main__":
    unittest.main()
