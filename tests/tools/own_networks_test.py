#!/usr/bin/env python3
"""What a plain user's tests have by tools/own_networks, and their programs not."""

import ast
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))
import own_network  # noqa: E402

NOBODY = 65534
# As each of pytest's workers does it, in a process that has threads.
WORKER = """
import socket, subprocess, sys, threading
threading.Thread(target=sys.stdin.read, daemon=True).start()
import own_network
own_network.enter()
with socket.create_server(("127.0.0.1", int(sys.argv[1]))):
    names = [name for _, name in socket.if_nameindex()]
    status = subprocess.run([*sys.argv[2:], "cat", "/proc/self/status"],
                            check=True, capture_output=True, text=True).stdout
print([names, [line.split()[1] for line in status.splitlines()
               if line.startswith(("CapInh", "CapPrm", "CapEff", "CapAmb"))]])
"""


class OwnNetworksTest(unittest.TestCase):
    """Of a user without rights, whoever runs this; a clone may be closed to it."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = pathlib.Path(directory.name)
        self.place.chmod(0o755)
        for name in "tools/own_networks", "tests/e2e/own_network.py":
            shutil.copy(ROOT / name, self.place)
        self.plain = [] if os.geteuid() else [
            "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
            "--"]

    def run_plain(self, *words, **options):
        return subprocess.run(
            [*self.plain, *words], cwd=self.place, text=True, check=False,
            stdin=subprocess.PIPE, capture_output=True, **options)

    def worker(self, port, *front):
        return self.run_plain(*front, "/usr/bin/python3", "-B", "-c",
                              WORKER, str(port), *own_network.WITHOUT_RIGHTS)

    def test_a_worker_has_a_network_that_its_programs_can_not_change(self):
        if self.run_plain("unshare", "--user", "true").returncode:
            self.skipTest("this kernel gives plain users no namespaces")
        with socket.create_server(("127.0.0.1", 0)) as outside:
            done = self.worker(outside.getsockname()[1], "./own_networks")
        self.assertEqual(done.returncode, 0, done.stderr)
        names, rights = ast.literal_eval(done.stdout)
        self.assertEqual(names, ["lo"])
        self.assertEqual(rights, ["0" * 16] * 4)

    def test_without_it_a_plain_user_makes_none(self):
        self.assertIn("PermissionError: [Errno 1] unshare(CLONE_NEWNET)",
                      self.worker(0).stderr)


if __name__ == "__main__":
    unittest.main()
