"""Jobs of MPI, whose ranks are hosts of a fabric."""


def ssh_stand_in(lab):
    """A program that starts a command on a host, as MPI's launchers want it."""
    agent = lab.account.home / "agent"
    agent.write_text(
        '#!/bin/sh\n[ "$1" = -x ] && shift\nhost=$1; shift\n'
        f'exec ibemu run --fabric={lab.socket} --host=$host -- sh -c "$*"\n')
    agent.chmod(0o755)
    return agent


def open_mpi(lab, hosts, *arguments):
    """The command line of a job of Open MPI with these options and program."""
    root = ["--allow-run-as-root"] if lab.account.name == "root" else []
    return ["mpirun.openmpi", *root, "--mca", "plm_rsh_agent",
            ssh_stand_in(lab), "--host", ",".join(hosts), *arguments]
