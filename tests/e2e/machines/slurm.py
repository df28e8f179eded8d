"""Debian's Slurm on the machines of a network: a slurmctld on the first one, and
a slurmd on each other.  They are root's, as on a cluster, and the jobs are of who
runs the test.  All that they write is in one directory."""

import contextlib
import dataclasses
import os
import pathlib
import signal
import tempfile

from harness import ROOT, Account, Background, until

NODES = 8
EXAMPLES = ROOT / "docs/examples/slurm"
MUNGED = "/usr/sbin/munged"
INSTALLED = "/usr/local/sbin"
CONTROLLER, NODE_DAEMON = "/usr/sbin/slurmctld", "/usr/sbin/slurmd"


def with_installed(programs):
    """What goes before a command of root's, for which our programs are where an
    administrator installs them: who has no PATH finds them there."""
    return ["unshare", "--mount", "sh", "-c",
            f'mount --bind "$1" {INSTALLED} && shift && exec "$@"', "sh", programs]


def is_installed():
    return all(map(os.path.exists, (MUNGED, CONTROLLER, NODE_DAEMON)))


# Nodes have one processor, whatever the machine has, and no cgroups, which nobody
# may have made.  All call themselves localhost: a network namespace has no name
# of its own, and they find each other by address.
CONFIGURATION = """\
ClusterName=ibemu
SlurmctldHost=localhost({head})
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={place}/munge.socket
StateSaveLocation={place}/state
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/own/slurmd.pid
SlurmdSpoolDir={place}/own/spool
TmpFS={place}/own/tmp
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MailProg=/bin/true
Prolog={place}/prolog
Epilog={place}/epilog
TaskProlog={place}/task-prolog
PrologFlags=Alloc,DeferBatch
"""
NODE = "NodeName={name} NodeHostname=localhost NodeAddr={address} CPUs=1\n"
PARTITIONS = """\
PartitionName=all Nodes={names} Default=YES State=UP
PartitionName=hosts Nodes={names} State=UP
"""
# An administrator's own, by which jobs of one partition have the examples.  Slurm
# gives it no PATH.
SCRIPT = """\
#!/bin/sh
[ "$SLURM_JOB_PARTITION" = hosts ] || exit 0
export IBEMU_JOBS="{place}/own/jobs"
. "{place}/settings"
exec "{place}/example-{name}.sh"
"""


@dataclasses.dataclass
class InCluster(Account):
    """Somebody whose commands ask this cluster."""

    configuration: pathlib.Path

    @property
    def environment(self):
        return {**super().environment, "SLURM_CONF": str(self.configuration)}


class Cluster:
    """The nodes are node1, node2 …; those of the fabric are called node-1."""

    def __init__(self, root, account, network):
        self.names = [f"node{number + 1}" for number in range(NODES)]
        self.head, *self._machines = network.machines
        # munged insists that everybody may reach its socket, and nobody else
        # may write on the way to its key.
        self.place = pathlib.Path(tempfile.mkdtemp(
            prefix="slurm.", dir=account.home.parent))
        self.place.chmod(0o755)
        self._make_files(account)
        self._root = self._member(root)
        self.account = self._member(self.head.inside(account))
        self._running = contextlib.ExitStack()
        with contextlib.ExitStack() as stack:
            stack.callback(self._end_what_is_left)
            self._start_daemons(stack)
            stack.callback(self._end_jobs)
            self._running = stack.pop_all()

    def _member(self, account):
        return InCluster(account.name, account.prefix, account.home,
                         account.programs, self.place / "slurm.conf")

    def _make_files(self, account):
        text = CONFIGURATION.format(place=self.place, head=self.head.address)
        text += "".join(NODE.format(name=name, address=machine.address)
                        for name, machine in zip(self.names, self._machines))
        text += PARTITIONS.format(names=",".join(self.names))
        (self.place / "slurm.conf").write_text(text)
        for name in ("prolog", "epilog", "task-prolog"):
            example = self.place / f"example-{name}.sh"
            example.write_bytes((EXAMPLES / f"{name}.sh").read_bytes())
            script = self.place / name
            script.write_text(SCRIPT.format(name=name, place=self.place))
            for path in (example, script):
                path.chmod(0o755)
        key = self.place / "munge.key"
        key.write_bytes(os.urandom(64))
        key.chmod(0o600)
        # What each node has of its own, it finds at own/.
        for name in ("state", "own", *self.names):
            (self.place / name).mkdir()
        for name in self.names:
            for kind in ("spool", "tmp"):
                (self.place / name / kind).mkdir()
            (self.place / name / "tmp").chmod(0o1777)

    def set(self, **variables):
        """In the environment of the examples."""
        (self.place / "settings").write_text("".join(
            f'export {name}="{value}"\n' for name, value in variables.items()))

    def _start_daemons(self, stack):
        def start(account, *arguments, **options):
            program = Background(account, arguments, **options)
            stack.callback(program.stop)
            return program

        start(self._root, MUNGED, "--foreground", *[
            f"--{kind}-file={self.place}/munge.{kind}"
            for kind in ("key", "log", "pid", "seed")],
            f"--socket={self.place}/munge.socket").wait_for("Created socket")
        start(self.head.inside(self._root), CONTROLLER, "-D").wait_for(
            "Running as primary controller")
        for name, machine in zip(self.names, self._machines):
            start(machine.inside(self._root), *with_installed(
                      self.account.programs), "sh", "-c",
                  'mount --bind "$1" own && shift && exec "$@"', "sh", name,
                  NODE_DAEMON, "-D", "-N", name, cwd=self.place)
        until(lambda: self.states() == {"idle"})

    def _told(self, command, *arguments):
        return self.account.run(command, "--noheader",
                                *arguments).stdout.splitlines()

    def states(self):
        """Of its nodes."""
        return set(self._told("sinfo", "--Node", "--format=%T"))

    def resume(self, name):
        """Lets a node have jobs again."""
        self.head.inside(self._root).run(
            "scontrol", "update", f"nodename={name}", "state=resume")

    def jobs(self):
        """Their numbers; a job is one until its last program has ended."""
        return self._told("squeue", "--format=%A")

    def _end_jobs(self):
        for job in self.jobs():
            self.account.run("scancel", job, check=False)
        until(lambda: not self.jobs())

    def _of_cluster(self):
        """Processes: each has the path of the configuration in its environment,
        also what a slurmd starts."""
        wanted = f"SLURM_CONF={self.account.configuration}".encode()
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has just ended
                if wanted in (process / "environ").read_bytes().split(b"\0"):
                    yield int(process.name)

    def _end_what_is_left(self):
        """Jobs that could not be cancelled: a slurmd leaves them running."""
        for process in self._of_cluster():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def stop(self):
        self._running.close()
