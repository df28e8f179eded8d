"""The prolog and the epilog of docs/examples/slurm, run as slurmd runs them: as
root for a job of a plain user; without root, all as one user."""

import contextlib
import json
import os
import pathlib
import select
import shutil
import signal
import tempfile

import pytest

from accounts import make_account
from harness import (PATH, ListeningFabric, first, gone, process, started_by,
                     until)
from slurm import EXAMPLES, with_installed

IS_ROOT = os.geteuid() == 0
FILES = {"ca.crt", "tls.crt", "tls.key"}


@pytest.fixture(scope="module")
def lab(scratch, programs):
    made = ListeningFabric(make_account("plain", scratch, programs), "head",
                           "single-switch:hosts=8")
    yield made
    made.stop()


@pytest.fixture
def start(lab):
    yield from started_by(lab.account)


class Job:
    """One of the lab's user on this machine, with the certificates of pc7."""

    def __init__(self, lab, administrator):
        self.user, self._administrator = lab.account, administrator
        home = pathlib.Path(tempfile.mkdtemp(dir=administrator.home.parent))
        home.chmod(0o755)
        self.place = home / "jobs/1"
        self.note = home / "jobs/1.daemon"
        self.socket = self.place / "fabric.sock"
        self.certificates = home / "certs"
        shutil.copytree(lab.certificates / "pc7", self.certificates)
        self.given = f"{self.user.programs}:{PATH}"
        # Without root nobody can install our programs for a moment.
        self.path = None if IS_ROOT else self.given
        user = self.user.home.stat()
        self._variables = {
            "SLURM_JOB_ID": 1, "SLURM_JOB_UID": user.st_uid,
            "SLURM_JOB_GID": user.st_gid,
            "IBEMU_HEAD": f"{lab.called}:{lab.port}",
            "IBEMU_CERTS": self.certificates, "IBEMU_JOBS": self.place.parent}
        self._running = contextlib.ExitStack()

    def script(self, name, check=True, **variables):
        """Runs one of the examples, with nothing else in its environment."""
        variables = {**self._variables, **variables}
        installed = []
        if self.path:
            variables["PATH"] = self.path
        else:
            installed = with_installed(self.user.programs)
        return self._administrator.run(
            *installed, "env", "-i",
            *[f"{key}={value}" for key, value in variables.items()],
            EXAMPLES / f"{name}.sh", check=check)

    def begin(self):
        """Returns the daemon that the prolog has started."""
        self.script("prolog")
        daemon = self._running.enter_context(
            process(int(self.note.read_text().split()[0])))
        self._running.callback(self._kill, daemon)
        return daemon

    def _kill(self, daemon):
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(daemon, signal.SIGKILL)

    def told_to_tasks(self):
        return self.script("task-prolog").stdout

    def left(self):
        """What is where jobs have their sockets."""
        return [path.name for path in self.place.parent.iterdir()]

    def stop(self):
        self._running.close()


@pytest.fixture
def job(lab, scratch, programs):
    made = Job(lab, make_account("root" if IS_ROOT else "plain", scratch, programs))
    yield made
    made.stop()


def test_a_node_is_a_host_from_the_prolog_to_the_epilog(lab, job):
    daemon = job.begin()
    assert job.told_to_tasks() == f"export IBEMU_FABRIC={job.socket}\n"
    assert job.user.run("ibemu", "run", f"--fabric={job.socket}", "--",
                        "hostname").stdout.startswith("node-")
    job.script("epilog")
    assert gone(daemon)
    assert not job.left()
    until(lambda: not json.loads(lab.ibemu("status", "--json").stdout)["joined"])


def test_a_job_gets_the_certificates_of_its_node_and_no_other_key(job):
    (job.certificates / "ca.key").write_text("the authority's")
    for path in job.certificates.iterdir():
        path.chmod(0o644)
    job.begin()
    given = job.place / "certs"
    assert set(os.listdir(given)) == FILES
    assert {(given / name).stat().st_mode & 0o777 for name in FILES} == {0o600}


@pytest.mark.parametrize("name", first(1, sorted(FILES, reverse=True)))
def test_a_node_with_a_file_too_few_becomes_no_host(job, name):
    (job.certificates / name).unlink()
    done = job.script("prolog", check=False)
    assert done.returncode == 1
    assert f"{name}': No such file or directory" in done.stderr
    assert not job.left()


def test_a_prolog_that_fails_says_why_and_leaves_nothing(job):
    done = job.script("prolog", IBEMU_HOST="node-99", check=False)
    assert done.returncode == 1
    assert "node-99" in done.stdout
    assert not job.left()
    assert job.script("epilog").stderr == ""


def test_the_daemon_ends_whoever_listens_at_its_socket(job, start):
    daemon = job.begin()
    socket = job.user.home / "other.sock"
    other = start("ibemud", "back-to-back", f"--socket={socket}")
    other.wait_for(r"\bready\b")
    job.user.run("mv", socket, job.socket)
    job.script("epilog")
    assert gone(daemon)
    assert other.wait() == 0  # "ibemu stop" has reached that one
    assert not job.left()


@pytest.mark.deep
def test_another_process_that_has_the_number_of_the_daemon_goes_on(job):
    daemon = job.begin()
    job.user.run("rm", job.socket)
    number, began = job.note.read_text().split()
    job.note.write_text(f"{number} {int(began) - 1}\n")
    job.script("epilog")
    assert not select.select([daemon], [], [], 0)[0]
    assert not job.left()


@pytest.mark.deep
def test_a_path_that_is_given_is_kept(job):
    job.path = job.given
    daemon = job.begin()
    job.script("epilog")
    assert gone(daemon)


@pytest.mark.deep
def test_what_can_not_be_removed_is_told_and_drains_no_node(job):
    """As while a process of the user makes files."""
    daemon = job.begin()
    failing = job.place.parents[1] / "bin"
    failing.mkdir()
    (failing / "rm").write_text("#!/bin/sh\nexit 1\n")
    (failing / "rm").chmod(0o755)
    job.path = f"{failing}:{job.given}"
    assert "a process of the user may still write" in job.script("epilog").stderr
    assert gone(daemon)
    assert not job.place.exists()


def test_where_there_is_no_host_the_task_prolog_says_nothing(job):
    assert job.told_to_tasks() == ""
