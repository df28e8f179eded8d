"""Hosts of one fabric, placed by Slurm: each task of a job is on one."""

import contextlib
import fcntl
import json
import re
import subprocess

import pytest

import own_network
import slurm
from harness import ROOT, SENT, SYSFS_PORT, ListeningFabric, started_by, until

BATCH = ROOT / "docs/examples/slurm/ibemu.sbatch"
SUMS = ROOT / "tests/e2e/applications/mpi_sums.c"
ROUNDS = 10
BYTES = 8 << 14  # of what the ranks sum in each round
HOSTS = [f"node-{number + 1}" for number in range(slurm.NODES)]
NODES_OF_HOSTS = {f"node-{number + 1}": f"node{number + 1}"
                  for number in range(slurm.NODES)}

# The subnet manager needs a moment for a host that has just come.
WHEN_ACTIVE = f"until grep -q ACTIVE {SYSFS_PORT}/state; do :; done;"

pytestmark = [pytest.mark.deep, pytest.mark.skipif(
    not slurm.is_installed(), reason="Slurm is not installed")]


@pytest.fixture(scope="module")
def cluster(module_account):
    # Slurm resolves no address on a machine that has the loopback alone.
    with own_network.more_than_the_loopback():
        made = slurm.Cluster(module_account)
        yield made
        made.stop()


@pytest.fixture(scope="module")
def lab(cluster):
    """A fabric that is there before the jobs; each node has a certificate."""
    made = ListeningFabric(cluster.account, "slurm",
                           f"single-switch:hosts={slurm.NODES}", sm="builtin")
    cluster.account.run("ibemu", "certs", made.certificates, *cluster.names)
    yield made
    made.stop()


@pytest.fixture
def start(cluster):
    yield from started_by(cluster.account)


@contextlib.contextmanager
def held(path):
    """A lock, by whose holder's command the tasks of a job wait for its end: a
    host that is free again would be given to another task."""
    with path.open("w") as file:
        path.chmod(0o644)
        fcntl.flock(file, fcntl.LOCK_EX)
        yield ["flock", "--shared", path]


def on_hosts(lab, host, *command):
    """What srun runs on each node: the command, on the host that the node's
    shell makes of `host`."""
    return ["sh", "-c", f"exec ibemu run --join={lab.called}:{lab.port} "
            f"--certs={lab.certificates}/$SLURMD_NODENAME --host={host} "
            '-- "$@"', "task", *command]


def joined(account, fabric):
    """{host: the node that has it}"""
    told = account.run("ibemu", "status", f"--fabric={fabric}", "--json",
                       check=False).stdout
    return {host["node"]: host["peer"].split()[0]
            for host in json.loads(told or '{"joined": []}')["joined"]}


def check_all_are_free(lab, cluster):
    until(lambda: joined(lab.account, lab.socket) == {})
    until(lambda: not cluster.jobs())


def test_eight_nodes_are_eight_hosts_of_one_fabric(lab, cluster, start):
    with held(lab.account.home / "all.told") as when_all_have:
        job = start("srun", "--nodes=8", "--label", *on_hosts(
            lab, "any", "sh", "-c",
            f'{WHEN_ACTIVE} hostname; ibstat; echo told; exec "$@"', "-",
            *when_all_have, "true"))
        until(lambda: job.output.count("told") == slurm.NODES)
        assert joined(lab.account, lab.socket).keys() == set(HOSTS)
    assert job.wait() == 0, job.output

    def seen(pattern):
        return re.findall(rf"^\d:\s*{pattern}$", job.output, re.M)

    assert sorted(seen(r"(node-\d)")) == HOSTS
    assert len(seen("State: Active")) == slurm.NODES, job.output
    assert len(set(seen(r"Base lid: ([1-9]\d*)"))) == slurm.NODES
    check_all_are_free(lab, cluster)


def test_each_node_has_the_host_that_its_number_says(lab, cluster, start):
    with held(lab.account.home / "all.seen") as until_seen:
        job = start("srun", "--nodes=8", *on_hosts(
            lab, "node-$((SLURM_NODEID + 1))", *until_seen, "hostname"))
        until(lambda: joined(lab.account, lab.socket) == NODES_OF_HOSTS)
    assert job.wait() == 0, job.output
    assert sorted(job.output.split()) == HOSTS
    check_all_are_free(lab, cluster)


def test_a_job_that_is_cancelled_gives_its_hosts_back(lab, cluster, start):
    job = start("srun", "--nodes=8", *on_hosts(lab, "any", "sleep", "1000"))
    until(lambda: joined(lab.account, lab.socket).keys() == set(HOSTS))
    cluster.account.run("scancel", *cluster.jobs())
    check_all_are_free(lab, cluster)
    assert job.wait() != 0


# --- The batch script, which brings its fabric along


class Batch:
    """A job of eight nodes; its number, and what is left when it has ended."""

    def __init__(self, cluster, *command, **variables):
        self._cluster, account = cluster, cluster.account
        self.number = account.run(
            "sbatch", "--parsable", "--nodes=8", "--output=%j.out", BATCH,
            *command, env={**account.environment, **variables}).stdout.strip()
        self.home = account.home

    def joined(self):
        return joined(self._cluster.account, f"job-{self.number}")

    def wait(self):
        """What it has printed."""
        until(lambda: not self._cluster.jobs())
        return (self.home / f"{self.number}.out").read_text()

    def certificates(self):
        return list(self.home.glob(f"ibemu-{self.number}.*"))


def test_a_job_has_a_fabric_and_certificates_that_nobody_else_can_read(cluster):
    job = Batch(cluster, "sh", "-c",
                "echo $SLURMD_NODENAME is $(hostname); "
                "stat --format=%A ibemu-$SLURM_JOB_ID.*",
                TASK_HOST="node-$((SLURM_NODEID + 1))")
    text = job.wait()
    assert dict(re.findall(r"^(node\d) is (node-\d)$", text, re.M)) == {
        node: host for host, node in NODES_OF_HOSTS.items()}, text
    assert text.count("drwx------\n") == slurm.NODES
    assert not job.certificates()


def test_a_job_that_is_cancelled_ends_its_fabric(cluster):
    job = Batch(cluster, "sleep", "1000")
    until(lambda: job.joined().keys() == set(HOSTS))
    cluster.account.run("scancel", job.number)
    text = job.wait()
    assert not job.certificates(), text
    assert "no daemon" in cluster.account.run(
        "ibemu", "status", f"--fabric=job-{job.number}", check=False).stderr


@pytest.mark.parametrize(("compiler", "kind"), [("mpicc.openmpi", "pmix"),
                                                ("mpicc.mpich", "pmi2")])
def test_ranks_of_mpi_sum_over_the_adapters_of_their_hosts(
        cluster, scratch, compiler, kind):
    program = scratch / f"mpi_sums.{kind}"
    subprocess.run([compiler, "-O1", "-Wall", "-o", program, SUMS], check=True)
    program.chmod(0o755)
    text = Batch(cluster, "sh", "-c",
                 f'{WHEN_ACTIVE} "$@" && echo sent $(cat {SENT})', "-", program,
                 ROUNDS, MPI=kind).wait()
    assert sorted(re.findall(r"^rank (\d): right$", text, re.M)) == [
        str(rank) for rank in range(slurm.NODES)], text
    sent = [4 * int(words) for words in re.findall(r"^sent (\d+)$", text, re.M)]
    assert len(sent) == slurm.NODES, text
    # Each has to send what the others do not have, whichever way they sum.
    assert min(sent) > ROUNDS * BYTES
