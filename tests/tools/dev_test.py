#!/usr/bin/env python3
"""How tools/dev installs what it lacks, on machines that are busy with apt."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONGEST = 1800  # seconds that it waits for others

# Each notes how it was called.  apt-get speaks as it does: in the language of
# its locale, of the lock that update, or what $LOCKED_FOR names, finds taken
# $TIMES_LOCKED times.
NOTE = '#!/bin/sh\necho "${0##*/} $*" >>"$NOTES"\n'
PROGRAMS = {
    "apt-get": """
case " $* " in *" ${LOCKED_FOR-update} "*) ;; *) exit 0 ;; esac
times=0
[ ! -e "$NOTES.locked" ] || read -r times <"$NOTES.locked"
[ "$times" -lt "$TIMES_LOCKED" ] || exit "${FAILS-0}"
echo $((times + 1)) >"$NOTES.locked"
lock=/var/lib/apt/lists/lock holder="4711 (unattended-upgr)"
if [ "$LC_ALL" = C ]; then
  echo "E: Could not get lock $lock. It is held by process $holder"
else
  echo "E: Konnte Sperre $lock nicht bekommen. Der Prozess $holder hält sie."
fi >&2
exit 100
""",
    "apt-cache": "",
    "dpkg-query": "echo 'deinstall ok config-files'\n",
    "sudo": 'exec "$@"\n',
    "sleep": "",
    "git": "",
    "clang-format": "echo Debian clang-format version 14.0.6\n",
}


class NeedTest(unittest.TestCase):
    """`tools/dev fmt`, which needs one package, in a tree without sources."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        (self.root / "tools").mkdir()
        (self.root / "bin").mkdir()
        shutil.copy(ROOT / "tools/dev", self.root / "tools/dev")
        (self.root / "tools/packages.txt").write_text("[lint]\nclang-format\n")
        for name, text in PROGRAMS.items():
            program = self.root / "bin" / name
            program.write_text(NOTE + text)
            program.chmod(0o755)

    def fmt(self, **environment):
        done = subprocess.run(
            [self.root / "tools/dev", "fmt"], capture_output=True, text=True,
            check=False, env={
                "PATH": f"{self.root}/bin:{os.environ['PATH']}",
                "NOTES": str(self.root / "notes"), "TIMES_LOCKED": "0",
                "LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de", **environment})
        self.notes = (self.root / "notes").read_text().splitlines()
        return done.returncode, done.stderr

    def called(self, start, word=""):
        return [note for note in self.notes
                if note.startswith(start) and word in note]

    def test_a_package_that_is_missing_is_installed(self):
        status, told = self.fmt()
        self.assertEqual(status, 0, told)
        self.assertIn("installing with apt: clang-format", told)
        self.assertEqual(len(self.called("apt-get", " update")), 1)
        install, = self.called("apt-get", " install ")
        self.assertTrue(install.endswith(" clang-format"), install)
        self.assertIn(f"-o DPkg::Lock::Timeout={LONGEST} ", install)
        self.assertEqual(self.called("sleep"), [])
        self.assertEqual(self.called("clang-format -i"), ["clang-format -i"])

    def test_locks_that_apt_does_not_wait_for_are_waited_for(self):
        for command in "update", "install":
            with self.subTest(command):
                for file in self.root.glob("notes*"):
                    file.unlink()
                status, told = self.fmt(TIMES_LOCKED="2", LOCKED_FOR=command)
                self.assertEqual(status, 0, told)
                self.assertEqual(
                    len(self.called("apt-get", f" {command}")), 3)
                self.assertEqual(self.called("sleep"), ["sleep 10", "sleep 10"])
                self.assertEqual(self.called("clang-format -i"),
                                 ["clang-format -i"])

    def test_a_lock_that_is_held_for_ever_is_told(self):
        status, told = self.fmt(TIMES_LOCKED="1000000")
        self.assertEqual(status, 1)
        self.assertIn("tools/dev: apt-get: E: Could not get lock", told)
        self.assertIn("held by process 4711", told)
        waited = [int(note.split()[1]) for note in self.called("sleep")]
        self.assertLessEqual(LONGEST - 10, sum(waited))
        self.assertLessEqual(sum(waited), LONGEST)
        self.assertEqual(self.called("apt-get", " install "), [])

    def test_another_fault_of_apt_is_told_at_once(self):
        status, told = self.fmt(TIMES_LOCKED="0", FAILS="100")
        self.assertEqual(status, 1)
        self.assertIn("tools/dev: apt-get: ", told)
        self.assertEqual(self.called("sleep"), [])
        self.assertEqual(self.called("apt-get", " install "), [])
        self.assertEqual(self.called("clang-format -i"), [])


if __name__ == "__main__":
    unittest.main()
