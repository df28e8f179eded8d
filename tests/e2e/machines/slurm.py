"""Debian's Slurm on one machine: a slurmctld, and a slurmd for each node, of
the user who runs the test.  All that they write is in one directory."""

import contextlib
import dataclasses
import os
import pathlib
import pwd
import signal
import tempfile

from harness import Account, Background, until
from perftest import free_port

NODES = 8
MUNGED = "/usr/sbin/munged"
CONTROLLER, NODE_DAEMON = "/usr/sbin/slurmctld", "/usr/sbin/slurmd"


def is_installed():
    return all(map(os.path.exists, (MUNGED, CONTROLLER, NODE_DAEMON)))


# What is of one directory per machine else has the node's name in it (%n): PMIx
# keeps its files in TmpFS.  Nodes have one processor, whatever the machine has,
# and no cgroups, which are root's.
CONFIGURATION = """\
ClusterName=ibemu
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={place}/munge.socket
StateSaveLocation={place}/state
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/%n.pid
SlurmdSpoolDir={place}/%n.spool
TmpFS={place}/%n.tmp
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MailProg=/bin/true
"""
NODE = """\
NodeName={name} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs=1
"""
PARTITION = "PartitionName=all Nodes={names} Default=YES State=UP\n"


@dataclasses.dataclass
class InCluster(Account):
    """Somebody whose commands ask this cluster."""

    configuration: pathlib.Path

    @property
    def environment(self):
        return {**super().environment, "SLURM_CONF": str(self.configuration)}


class Cluster:
    """The nodes are node1, node2 …; those of the fabric are called node-1."""

    def __init__(self, account):
        self.names = [f"node{number + 1}" for number in range(NODES)]
        # munged insists that everybody may reach its socket, and nobody else
        # may write on the way to its key.
        self.place = pathlib.Path(tempfile.mkdtemp(
            prefix="slurm.", dir=account.home.parent))
        self._make_files(account)
        self.account = InCluster(account.name, account.prefix, account.home,
                                 account.programs, self.place / "slurm.conf")
        self._running = contextlib.ExitStack()
        with contextlib.ExitStack() as stack:
            stack.callback(self._end_what_is_left)
            self._start_daemons(stack)
            stack.callback(self._end_jobs)
            self._running = stack.pop_all()

    def _make_files(self, account):
        owner = account.home.stat()
        ports = set()
        while len(ports) <= NODES:
            ports.add(free_port())
        text = CONFIGURATION.format(
            place=self.place, port=ports.pop(),
            user=pwd.getpwuid(owner.st_uid).pw_name)
        text += "".join(NODE.format(name=name, port=ports.pop())
                        for name in self.names)
        text += PARTITION.format(names=",".join(self.names))
        (self.place / "slurm.conf").write_text(text)
        key = self.place / "munge.key"
        key.write_bytes(os.urandom(64))
        key.chmod(0o600)
        for name in ("state", *[f"{node}.{kind}" for node in self.names
                                for kind in ("spool", "tmp")]):
            (self.place / name).mkdir()
        self.place.chmod(0o755)
        if os.geteuid() == 0:
            for path in (self.place, *self.place.iterdir()):
                os.chown(path, owner.st_uid, owner.st_gid)

    def _start_daemons(self, stack):
        def start(*arguments):
            program = Background(self.account, arguments)
            stack.callback(program.stop)
            return program

        start(MUNGED, "--foreground", *[
            f"--{kind}-file={self.place}/munge.{kind}"
            for kind in ("key", "log", "pid", "seed")],
            f"--socket={self.place}/munge.socket").wait_for("Created socket")
        start(CONTROLLER, "-D").wait_for("Running as primary controller")
        for name in self.names:
            start(NODE_DAEMON, "-D", "-N", name)
        until(lambda: self._told("sinfo", "--format=%D %t") ==
              [f"{NODES} idle"])

    def _told(self, command, *arguments):
        return self.account.run(command, "--noheader",
                                *arguments).stdout.splitlines()

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
