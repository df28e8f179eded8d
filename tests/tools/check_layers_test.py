#!/usr/bin/env python3
"""What tools/check_layers.py says of small trees, and of planted faults."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import check_layers  # noqa: E402


class CheckLayersTest(unittest.TestCase):
    """A tree of three rooms, sound until something is planted in it."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        self.room("base", [], users="hca/mlx4, hca/model")
        self.room("hca/model", ["base"])
        self.room("hca/mlx4", ["base"])
        self.write("hca/README.md", "# hca/\n")
        self.map("base", "hca")
        self.write("base/random.h", "")
        for room in ("model", "mlx4"):
            self.write(f"hca/{room}/core.h", '#include "base/random.h"\n')

    def write(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def room(self, path, rooms, users="nobody"):
        names = ", ".join(room.replace("/", "_") for room in rooms)
        self.write(f"{path}/meson.build",
                   f"{path.replace('/', '_')}_rooms = [{names}]\n")
        self.write(f"{path}/README.md", f"# {path}/\n\nIncluded by: {users}.\n")

    def map(self, *folders):
        self.write("ARCHITECTURE.md", "| folder | what lives there |\n"
                   "|---|---|\n" + "".join(f"| `{folder}/` | code |\n"
                                          for folder in folders))

    def complaints(self):
        return [*check_layers.violations(self.root),
                *check_layers.headerless(self.root),
                *check_layers.untitled(self.root),
                *check_layers.namesakes(self.root),
                *check_layers.misplaced(self.root),
                *check_layers.disordered(self.root),
                *check_layers.untold(self.root)]

    def test_a_sound_tree_gets_no_complaint(self):
        self.assertEqual(self.complaints(), [])

    def test_an_include_of_a_room_that_the_list_does_not_name(self):
        self.write("base/pidfd.h", '\n#include "hca/model/core.h"\n')
        self.assertEqual(self.complaints(), [
            "base/pidfd.h:2: base/ may not include hca/model/: "
            "base/meson.build does not name it"])

    def test_a_room_in_the_list_that_is_not_included(self):
        self.write("hca/mlx4/core.h", "")
        self.assertEqual(self.complaints(), [
            "hca/mlx4/meson.build: hca/mlx4/ includes nothing of base/"])

    def test_a_room_that_does_not_exist(self):
        self.room("hca/mlx4", ["base", "fabric"])
        self.assertIn('hca/mlx4/meson.build: there is no room "fabric"',
                      self.complaints())

    def test_a_driver_that_knows_the_model_that_judges_it(self):
        self.room("hca/mlx4", ["base", "hca/model"])
        self.write("hca/mlx4/adapter.h", '#include "hca/model/core.h"\n')
        self.assertIn(
            "hca/mlx4/meson.build: hca/mlx4/ must not know hca/model/",
            self.complaints())

    def test_a_clock_that_is_asked_behind_the_back_of_timers(self):
        self.write("hca/mlx4/reset.h", "")
        self.write("hca/mlx4/reset.cc", "auto now = absl::Now();\n")
        self.assertEqual(self.complaints(), [
            "hca/mlx4/reset.cc:1: time and chance come from base/"])

    def test_chance_from_the_kernel_and_waits_that_ask_the_clock(self):
        self.write("hca/mlx4/reset.h", "")
        self.write("hca/mlx4/reset.cc",
                   "getrandom(&seed, sizeof seed, 0);\n"
                   "changed_.wait(lock);\n"
                   "changed_.wait_for(lock, kSecond);\n")
        self.assertEqual(self.complaints(), [
            f"hca/mlx4/reset.cc:{line}: time and chance come from base/"
            for line in (1, 3)])

    def test_a_library_that_is_another_rooms(self):
        self.write("hca/mlx4/reset.h", "")
        self.write("hca/mlx4/reset.cc", "#include <liburing.h>\n")
        self.assertEqual(self.complaints(), [
            "hca/mlx4/reset.cc:1: only loop/ may use liburing"])

    def test_each_library_that_is_one_rooms(self):
        self.write("hca/mlx4/reset.h", "")
        for library, rooms in check_layers.ONLY_IN.items():
            with self.subTest(library=library):
                self.write("hca/mlx4/reset.cc", f"#include <{library}/a.h>\n")
                self.assertEqual(self.complaints(), [
                    f"hca/mlx4/reset.cc:1: only {rooms}/ may use {library}"])

    def test_headers_that_begin_with_a_question(self):
        for title in ("Core: what a core does.", "Which core does it.",
                      "Core and Core: how\n// it goes."):
            with self.subTest(title=title):
                self.write("hca/mlx4/core.h", f"// {title}\n"
                           '#include "base/random.h"\nclass Core {\n};\n')
                self.assertEqual(self.complaints(), [
                    "hca/mlx4/core.h:1: a header begins with a noun phrase that "
                    "says what is there, not with a question"])

    def test_a_header_that_begins_with_the_name_of_a_class_elsewhere(self):
        self.write("hca/mlx4/core.h", "// Core and Reset(): parts of an adapter."
                   '\n#include "base/random.h"\n'
                   "class Core {\n};\n// As Reset() does.\n")
        self.assertEqual(self.complaints(), [
            "hca/mlx4/core.h:1: the header has no Reset"])

    def test_headers_that_begin_with_a_noun_phrase(self):
        for title in ("Core and Other: parts of an adapter.", "An adapter.",
                      "QUERY_CORE: the answer of firmware.", "Whatever: ok"):
            with self.subTest(title=title):
                self.write("hca/mlx4/core.h", f"// {title}\n"
                           '#include "base/random.h"\nclass Core {\n};\n'
                           "class Other;\nvoid Whatever();\n")
                self.assertEqual(self.complaints(), [])

    def test_classes_of_one_name_in_two_headers(self):
        for line in ("class Core final : public Base {", "struct Core {",
                     "enum class Core : int {"):
            with self.subTest(line=line):
                self.write("hca/model/core.h", '#include "base/random.h"\n'
                           "struct Core {\n};\n")
                self.write("hca/mlx4/core.h",
                           f'#include "base/random.h"\n{line}\n}};\n')
                self.assertEqual(self.complaints(), [
                    "hca/model/core.h: Core is in hca/mlx4/core.h, too: "
                    "one name is one thing"])

    def test_nested_and_declared_classes_of_one_name(self):
        self.write("hca/model/core.h", '#include "base/random.h"\n'
                   "class Core {\n  struct State {\n  };\n};\n")
        self.write("hca/mlx4/core.h", '#include "base/random.h"\n'
                   "class Core;\nclass Other {\n  struct State {\n  };\n};\n"
                   "class Core::Part {\n};\n")
        self.assertEqual(self.complaints(), [])

    def test_a_source_file_without_a_header_of_its_name(self):
        self.write("hca/mlx4/core.cc", "")
        self.write("hca/mlx4/core_send.cc", "")
        self.assertEqual(self.complaints(), [
            "hca/mlx4/core_send.cc: there is no core_send.h: "
            "a class is in the file of its name"])

    def test_a_program_needs_no_header(self):
        self.write("hca/mlx4/probe_main.cc", "int main() {}\n")
        self.assertEqual(self.complaints(), [])

    def test_a_source_that_nothing_compiles(self):
        self.write("base/pidfd.cc", "")
        self.write("tests/base/pidfd_test.cc", "")
        self.write("tests/fuzz/pidfd_fuzz.cc", "")
        self.write("tests/fuzz/below/inotify_fuzz.cc", "")
        self.write("tests/e2e/client.cc", "")  # its test compiles it
        self.assertEqual(list(check_layers.uncompiled(self.root)), [
            f"{name}: no meson.build names it, so nothing compiles it"
            for name in ("base/pidfd.cc", "tests/base/pidfd_test.cc",
                         "tests/fuzz/below/inotify_fuzz.cc",
                         "tests/fuzz/pidfd_fuzz.cc")])
        self.write("base/meson.build", "base_rooms = []\nfiles('pidfd.cc')\n")
        self.write("tests/meson.build", "x = {'base': 'base/pidfd_test.cc'}\n")
        self.write("tests/fuzz/meson.build",
                   "fuzzers = {'pidfd': [], 'below/inotify': []}\n")
        self.assertEqual(list(check_layers.uncompiled(self.root)), [])

    def test_tests_in_the_folders_of_their_rooms(self):
        self.write("tests/hca/mlx4/core_test.cc", '#include "hca/mlx4/core.h"\n')
        self.write("tests/hca/model/core_test.cc", "")
        self.write("tests/hca/mlx4/golden_test.cc", "")
        self.write("tests/base/core_test.cc", "")  # of something else
        self.write("tests/verbs/providers/core_test.cc", "")
        self.assertEqual(self.complaints(), [])

    def test_a_test_in_a_folder_that_is_no_rooms(self):
        self.write("tests/hca/golden_test.cc", "")
        self.assertEqual(self.complaints(), [
            "tests/hca/golden_test.cc: folders of tests/ are those of rooms, and "
            "there is no room hca/"])

    def test_a_test_that_is_beside_the_folder_of_its_header(self):
        self.write("hca/model/icm.h", '#include "base/random.h"\n')
        self.write("tests/hca/mlx4/icm_test.cc", "")
        self.assertEqual(self.complaints(), [
            "tests/hca/mlx4/icm_test.cc: the test of hca/model/icm.h belongs to "
            "tests/hca/model/"])

    def test_a_test_that_is_far_from_the_header_it_includes(self):
        self.write("tests/hca/model/random_test.cc",
                   '#include "base/random.h"\n')
        self.assertEqual(self.complaints(), [
            "tests/hca/model/random_test.cc: the test of base/random.h belongs to "
            "tests/base/"])

    def test_a_map_that_has_a_room_above_what_it_includes(self):
        self.map("hca/model", "base", "hca")
        self.assertEqual(self.complaints(), [
            "ARCHITECTURE.md: hca/model/ includes base/, which stands below it"])

    def test_a_map_without_a_room(self):
        self.map("base", "hca/model")
        self.assertEqual(self.complaints(), [
            "ARCHITECTURE.md: no row of the rooms has hca/mlx4/"])

    def test_a_folder_with_too_many_files(self):
        for number in range(36):
            self.write(f"hca/mlx4/file_{number}.h", "")
        self.assertEqual(self.complaints(), [
            "hca/mlx4/: 39 files; 35 are the most"])

    def test_a_room_without_a_readme(self):
        (self.root / "hca/README.md").unlink()
        self.assertEqual(self.complaints(), [
            "hca/: no README.md says what lives here"])

    def test_a_readme_that_is_wrong_about_who_includes_its_room(self):
        self.room("hca/model", ["base"], users="daemon")
        self.assertEqual(self.complaints(), [
            'hca/model/README.md: it has to say "Included by: nobody."'])


if __name__ == "__main__":
    unittest.main()
