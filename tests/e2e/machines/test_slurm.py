"""Hosts of one fabric, placed by Slurm: each task of a job is on one."""

import contextlib
import fcntl
import json
import os
import re
import subprocess

import pytest

import slurm
from accounts import make_account
from harness import ROOT, SENT, SYSFS_PORT, ListeningFabric, started_by, until
from network import Network

BATCH = slurm.EXAMPLES / "ibemu.sbatch"
SUMS = ROOT / "tests/e2e/applications/mpi_sums.c"
ROUNDS = 10
BYTES = 8 << 14  # of what the ranks sum in each round
HOSTS = [f"node-{number + 1}" for number in range(slurm.NODES)]
NODES_OF_HOSTS = {f"node-{number + 1}": f"node{number + 1}"
                  for number in range(slurm.NODES)}

# The subnet manager needs a moment for a host that has just come.
WHEN_ACTIVE = f"until grep -q ACTIVE {SYSFS_PORT}/state; do :; done;"

pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(not slurm.is_installed(), reason="Slurm is not installed"),
    pytest.mark.skipif(os.geteuid() != 0,
                       reason="network namespaces need root")]


@pytest.fixture(scope="module")
def cluster(module_account, scratch, programs):
    with Network(slurm.NODES + 1) as network:
        made = slurm.Cluster(make_account("root", scratch, programs),
                             module_account, network)
        yield made
        made.stop()


class HeadsFabric(ListeningFabric):
    """On the machine that has slurmctld; each node has a certificate."""

    def __init__(self, cluster):
        self.own_address = self.called = cluster.head.address
        super().__init__(cluster.account, "slurm",
                         f"single-switch:hosts={slurm.NODES}", sm="builtin")
        self.account.run("ibemu", "certs", self.certificates, *cluster.names)


@pytest.fixture(scope="module")
def lab(cluster):
    """A fabric that is there before the jobs."""
    made = HeadsFabric(cluster)
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


class Job:
    """What is submitted for eight nodes; its number, and what it prints."""

    def __init__(self, cluster, *arguments, **variables):
        self._cluster, account = cluster, cluster.account
        self.number = account.run(
            "sbatch", "--parsable", "--nodes=8", "--output=%j.out", *arguments,
            env={**account.environment, **variables}).stdout.strip()
        self.home = account.home

    @property
    def output(self):
        """What it has printed, where it has begun."""
        file = self.home / f"{self.number}.out"
        return file.read_text() if file.exists() else ""

    def cancel(self):
        self._cluster.account.run("scancel", self.number)

    def wait(self):
        until(lambda: not self._cluster.jobs())
        return self.output


# --- Prolog and epilog, which make a host of a node


@pytest.fixture
def on_nodes(lab, cluster):
    """Submits a script for nodes that are hosts, by their numbers."""
    cluster.set(IBEMU_HEAD=f"{lab.called}:{lab.port}",
                IBEMU_CERTS=f"{lab.certificates}/$SLURMD_NODENAME",
                IBEMU_HOST="node-${SLURMD_NODENAME#node}")

    def submit(script, *options):
        return Job(cluster, "--partition=hosts", *options, "--wrap", script)

    return submit


def on_host(command):
    return f'srun --label ibemu run --fabric="$IBEMU_FABRIC" -- {command}'


def check_nothing_is_left(lab, cluster):
    check_all_are_free(lab, cluster)
    assert not list(cluster.place.glob("node*/jobs/*"))


def test_a_node_is_a_host_as_long_as_a_job_has_it(lab, cluster, on_nodes):
    with held(lab.account.home / "both.seen") as until_seen:
        job = on_nodes("\n".join(
            [on_host("hostname"), " ".join(map(str, until_seen)) + " true",
             on_host(f"sh -c '{WHEN_ACTIVE} ibstat'")]))
        until(lambda: job.output.count("node-") == slurm.NODES)
        # Its first step ends, and the next one does not begin.
        assert joined(lab.account, lab.socket) == NODES_OF_HOSTS
    text = job.wait()
    assert sorted(re.findall(r"^\d: (node-\d)$", text, re.M)) == HOSTS, text
    assert text.count("State: Active") == slurm.NODES, text
    check_nothing_is_left(lab, cluster)


def test_a_node_of_a_job_that_is_cancelled_is_no_host(lab, cluster, on_nodes):
    job = on_nodes(on_host("sh -c 'echo begun; sleep 1000'"))
    until(lambda: job.output.count("begun") == slurm.NODES)
    assert joined(lab.account, lab.socket) == NODES_OF_HOSTS
    job.cancel()
    job.wait()
    check_nothing_is_left(lab, cluster)


@pytest.mark.parametrize("signal", ["KILL", "STOP"])
def test_a_job_may_have_ended_its_daemon(lab, cluster, on_nodes, signal):
    text = on_nodes(
        'read -r pid began <"${IBEMU_FABRIC%/*}.daemon" && '
        f'kill -{signal} "$pid" && echo done',
        "--nodes=1").wait()
    assert text == "done\n"
    check_nothing_is_left(lab, cluster)
    until(lambda: cluster.states() == {"idle"})


def test_a_node_that_can_not_be_a_host_gets_no_job(lab, cluster, on_nodes):
    cluster.set(IBEMU_HEAD=f"{lab.called}:{lab.port}", IBEMU_HOST="node-99",
                IBEMU_CERTS=f"{lab.certificates}/$SLURMD_NODENAME")
    job = on_nodes("true", "--nodelist=node8", "--nodes=1")
    until(lambda: "drained" in cluster.states())
    job.cancel()
    job.wait()
    cluster.resume("node8")
    until(lambda: cluster.states() == {"idle"})
    check_nothing_is_left(lab, cluster)


# --- The batch script, which brings its fabric along


class Batch(Job):
    """A job whose first node has the fabric; what is left when it has ended."""

    def __init__(self, cluster, *command, **variables):
        super().__init__(cluster, BATCH, *command, **variables)

    def joined(self):
        return joined(self._cluster.account, f"job-{self.number}")

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
    job.cancel()
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
