"""Jobs of MPI, whose ranks are on hosts of a fabric."""

import shlex


def ssh_stand_in(lab, hosts):
    """A program that starts a command on one of these hosts, as MPI's launchers
    want it."""
    ways = [f'{host}) exec {shlex.join(map(str, lab.on(host)))} sh -c "$*";;\n'
            for host in hosts]
    agent = lab.account.home / "agent"
    agent.write_text('#!/bin/sh\n[ "$1" = -x ] && shift\nhost=$1; shift\n'
                     f'case $host in\n{"".join(ways)}esac\nexit 255\n')
    agent.chmod(0o755)
    return agent


def open_mpi(lab, hosts, *arguments, ranks=1):
    """The command line of a job of Open MPI with these options and program, and
    so many ranks on each host."""
    root = ["--allow-run-as-root"] if lab.account.name == "root" else []
    return ["mpirun.openmpi", *root, "--mca", "plm_rsh_agent",
            ssh_stand_in(lab, hosts), "--host",
            ",".join(f"{host}:{ranks}" for host in hosts), *arguments]
