#!/usr/bin/env python3
"""What tools/tidy.py looks at, what it remembers, and for how long."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

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


class HeadersTest(unittest.TestCase):
    """Where headers without a source of their name are looked at: in a scratch
    tree, each of whose sources is compiled."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name).resolve()
        patch = mock.patch.object(tidy, "ROOT", self.root)
        patch.start()
        self.addCleanup(patch.stop)
        self.git("init", "-q")
        self.write("mad/reply.h", "struct Reply {};\n")
        self.write("mad/host.h", '#include "mad/reply.h"\n')
        self.write("mad/host.cc", '#include "mad/host.h"\n')
        self.write("tests/mad/reply_test.cc", '#include "mad/reply.h"\n')
        self.write("tests/.clang-tidy", "Checks: ''\n")
        self.commit()

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=Test", "-c", "user.email=t@t",
                        *words], check=True, cwd=self.root)

    def commit(self):
        self.git("add", ".")
        self.git("commit", "-q", "-m", "Start")

    def write(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def touched(self):
        sources = [path.relative_to(self.root)
                   for path in self.root.rglob("*.cc")]
        chosen, self.count = tidy.touched(sources, "HEAD")
        return sorted(map(str, chosen))

    def test_a_source_that_includes_the_header_by_another_is_looked_at(self):
        self.write("mad/reply.h", "struct Reply { int a; };\n")
        self.assertEqual(self.touched(), ["mad/host.cc"])

    def test_a_source_of_the_headers_folder_goes_before_a_nearer_test(self):
        self.write("mad/agent.cc", '#include "mad/reply.h"\n')
        self.write("cm/agent.cc", '#include "mad/reply.h"\n')
        self.commit()
        self.write("mad/reply.h", "struct Reply { int a; };\n")
        self.assertEqual(self.touched(), ["mad/agent.cc"])

    def test_what_changed_as_well_is_not_joined_by_another(self):
        self.write("cm/manager.cc", '#include "mad/host.h"\n')
        self.commit()
        self.write("mad/reply.h", "struct Reply { int a; };\n")
        self.write("cm/manager.cc", '#include "mad/host.h"\n\n')
        self.assertEqual(self.touched(), ["cm/manager.cc"])

    def test_a_header_that_tests_alone_include_is_seen_in_one_of_them(self):
        self.write("tests/mad/fixture.h", "")
        for name in "agent", "host":
            self.write(f"tests/mad/{name}_test.cc", '#include "fixture.h"\n')
        self.commit()
        self.write("tests/mad/fixture.h", "struct Fixture {};\n")
        self.assertEqual(self.touched(), ["tests/mad/agent_test.cc"])

    def test_headers_that_nothing_compiled_includes_need_no_source(self):
        self.write("mad/alone.h", "")
        self.write("mad/gone.h", "struct Gone {};\n")
        self.commit()
        self.write("mad/alone.h", "struct Alone {};\n")
        (self.root / "mad/gone.h").unlink()
        self.assertEqual(self.touched(), [])

    def test_no_more_than_the_most_are_looked_at(self):
        for number in range(tidy.MOST + 3):
            self.write(f"mad/part_{number}.h", "")
            self.write(f"mad/user_{number}.cc",
                       f'#include "mad/part_{number}.h"\n')
        self.commit()
        for number in range(tidy.MOST + 3):
            self.write(f"mad/part_{number}.h", f"struct Part{number} {{}};\n")
        self.assertEqual(len(self.touched()), tidy.MOST)
        self.assertEqual(self.count, tidy.MOST + 3)

    @unittest.skipUnless(shutil.which("clang-tidy"), "no clang-tidy")
    def test_a_finding_in_a_header_without_a_source_is_told(self):
        shutil.copy(ROOT / ".clang-tidy", self.root)
        for room in tidy.ROOMS:
            self.write(f"{room}/.clang-tidy", "Checks: ''\n")
        self.write("tools/tidy.py", (ROOT / "tools/tidy.py").read_text())
        self.write("build/compile_commands.json", json.dumps([
            {"directory": str(self.root / "build"), "file": f"../{name}",
             "command": f"c++ -std=c++20 -I.. -c ../{name} -o {number}.o"}
            for number, name in enumerate(
                ("mad/host.cc", "tests/mad/reply_test.cc"))]))
        self.commit()

        def tidied():
            done = subprocess.run(
                [sys.executable, "tools/tidy.py", "changes", "build", "HEAD"],
                capture_output=True, text=True, check=False, cwd=self.root,
                env={**os.environ, "XDG_CACHE_HOME": str(self.root / "cache")})
            return done.returncode, done.stdout

        self.write("mad/reply.h", "struct Reply {};\nstruct More {};\n")
        self.assertEqual(tidied(), (0, "clang-tidy: 1 files, all clean\n"))
        self.write("mad/reply.h", "struct Reply { Reply(int a) {} };\n")
        status, told = tidied()
        self.assertEqual(status, 1)
        self.assertIn("mad/reply.h:1:16: error: single-argument constructors", told)
        self.assertIn("google-explicit-constructor", told)


if __name__ == "__main__":
    unittest.main()
