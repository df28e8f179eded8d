"""The Action, by the example's job: its steps, in order, in a clean Debian, by a
runner that knows as much of GitHub's as they need."""

import re

import pytest
import yaml

from harness import ROOT
from podman import ALLOWED

WORKFLOW = ROOT / "docs/examples/github/ibemu.yml"
WORK, TEMP, ACTION = "/srv", "/srv/temp", "/action"
FILES = {name: f"{TEMP}/{name.lower()}" for name in (
    "GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH")}
# How GitHub starts a step's shell: of a step that names none, and bash.
SHELLS = {None: "sh -e", "bash": "bash --noprofile --norc -eo pipefail"}


class Job:
    """The container in which the steps of a job run."""

    def __init__(self, account, image, name, package):
        self._account, self._name = account, name
        self._outputs = {}
        account.podman(
            "run", "--detach", "--network=host", f"--name={name}", "--init",
            *ALLOWED, f"--volume={ROOT}:{ACTION}:ro",
            f"--volume={package.parent}:/packages:ro", f"--workdir={WORK}", image,
            "sleep", "infinity")
        self._inside("mkdir", TEMP)

    def _inside(self, *command, **variables):
        return self._account.podman(
            "exec", *[f"--env={name}={value}" for name, value in
                      variables.items()], self._name, *command).stdout

    def _told(self, name):
        """What the steps so far have written to one of the files."""
        text = self._inside("sh", "-c", f"cat {FILES[name]} 2>/dev/null || true")
        return dict(line.split("=", 1) for line in text.splitlines())

    def _run(self, script, shell, variables):
        return self._inside(
            *SHELLS[shell].split(), "-c", script,
            RUNNER_TEMP=TEMP, GITHUB_ACTION_PATH=ACTION, **FILES,
            **self._told("GITHUB_ENV"), **variables)

    def step(self, step):
        """Of a workflow that checks nothing out but runs programs."""
        return self._run(step["run"], step.get("shell"), step.get("env", {}))

    def action(self, action, **given):
        """Its outputs, when its steps were carried out."""
        inputs = {name: each.get("default", "")
                  for name, each in action["inputs"].items()}
        assert given.keys() <= inputs.keys()
        known = {f"inputs.{name}": value
                 for name, value in {**inputs, **given}.items()}

        def filled(text):
            return re.sub(r"\${{ *([\w.-]+) *}}", lambda hole: known[hole[1]],
                          text)

        for step in action["runs"]["steps"]:
            self._run(filled(step["run"]), step["shell"],
                      {name: filled(value)
                       for name, value in step.get("env", {}).items()})
            if "id" in step:
                known.update({f"steps.{step['id']}.outputs.{name}": value for
                              name, value in
                              self._told("GITHUB_OUTPUT").items()})
        return {name: filled(each["value"])
                for name, each in action["outputs"].items()}


@pytest.fixture
def job(account, debian, package):
    yield Job(account, debian, "job", package)
    account.podman("rm", "--force", "job")


def test_the_steps_of_the_example_have_a_fabric(job, package):
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    steps = yaml.safe_load(WORKFLOW.read_text())["jobs"]["test"]["steps"]
    own, = [step for step in steps if "ibemu@" in step.get("uses", "")]
    outputs = job.action(action, **own["with"],
                         package=f"/packages/{package.name}")
    assert outputs["fabric"]
    said = [job.step(step) for step in steps if "run" in step]
    assert "PORT_ACTIVE" in said[0]
    assert said[0].count("\nCa\t") == 4
    assert "BW average" in said[1]
