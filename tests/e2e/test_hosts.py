"""Each host looks like a machine of its own, to MPI as well."""

import pathlib
import re
import shutil
import subprocess

import pytest

import mpi

pytestmark = pytest.mark.both_accounts

HERE = pathlib.Path(__file__).parent
FOUR = "single-switch:hosts=4"
BOOT_ID = "/proc/sys/kernel/random/boot_id"
MESSAGE = 1 << 20  # bytes that mpi_ring.c sends


def told(account, *command, options=()):
    return account.run("ibemu", "run", f"--topology={FOUR}", *options, "--",
                       *command).stdout.strip()


def test_a_run_has_the_name_of_its_host(account):
    assert told(account, "uname", "-n") == "node-1"
    assert told(account, "uname", "-n", options=["--host=node-3"]) == "node-3"
    assert told(account, "uname", "-n", options=["--hostname=me"]) == "me"
    assert pathlib.Path("/proc/sys/kernel/hostname").read_text() != "node-1\n"


def test_a_host_knows_its_own_name(account):
    address, name = told(account, "getent", "hosts", "node-2",
                         options=["--host=node-2"]).split()
    assert (address, name) == ("127.0.1.1", "node-2")
    known = told(account, "cat", "/etc/hosts")
    assert pathlib.Path("/etc/hosts").read_text().strip() in known


def test_without_a_name_it_is_the_machine(account):
    machine = pathlib.Path("/proc/sys/kernel/hostname").read_text().strip()
    assert told(account, "uname", "-n", options=["--hostname=-"]) == machine
    assert told(account, "cat", BOOT_ID, options=["--hostname=-"]) == (
        pathlib.Path(BOOT_ID).read_text().strip())


def test_other_hosts_have_their_names_also_without_one_of_its_own(account):
    for options in ([], ["--hostname=-"], ["--hostname=me"]):
        address, name = told(account, "getent", "hosts", "node-2",
                             options=options).split()
        assert (address, name) == ("198.18.0.2", "node-2")


def test_a_name_that_is_none_is_refused(account):
    done = account.run("ibemu", "run", "--hostname=a b", "--", "true",
                       check=False)
    assert done.returncode == 125
    assert "--hostname=a b: a name has letters" in done.stderr


@pytest.mark.parametrize("account", ["root"], indirect=True)
def test_where_no_name_may_be_given_it_is_the_machines(account):
    def without_names(*options):
        # The limit of a namespace below, so that the machine's stays.
        return account.run(
            "unshare", "--user", "--map-root-user", "sh", "-ec",
            "echo 0 > /proc/sys/user/max_uts_namespaces; "
            f"exec ibemu run {' '.join(options)} -- uname -n", check=False)

    done = without_names()
    assert done.returncode == 0, done.stderr
    machine = pathlib.Path("/proc/sys/kernel/hostname").read_text()
    assert done.stdout == machine
    assert "--hostname=-" in done.stderr
    assert without_names("--hostname=me").returncode == 125


def test_a_boot_id_belongs_to_a_host_of_a_fabric(fabric):
    made, other = fabric(FOUR, sm="static"), fabric(FOUR, sm="static")

    def boot_id(lab, host):
        return lab.run(host, "cat", BOOT_ID).stdout.strip()

    ids = [boot_id(made, "node-1"), boot_id(made, "node-2"),
           boot_id(other, "node-1"), pathlib.Path(BOOT_ID).read_text().strip()]
    assert len(set(ids)) == 4
    assert boot_id(made, "node-1") == ids[0]
    assert all(re.fullmatch(r"[0-9a-f-]{36}", one) for one in ids)


def test_a_nested_run_is_another_host(account):
    script = "ibemu run --host=node-2 -- uname -n; uname -n; " \
             f"ibemu run --host=node-2 -- cat {BOOT_ID}; cat {BOOT_ID}"
    inner, outer, *ids = told(account, "sh", "-c", script).split()
    assert (inner, outer) == ("node-2", "node-1")
    assert ids[0] != ids[1]


def test_a_nested_run_is_the_host_that_it_is_elsewhere(fabric):
    made = fabric(FOUR, sm="static")
    command = ["cat", BOOT_ID]
    nested = made.run("node-1", *made.on("node-2"), *command).stdout
    assert nested == made.run("node-2", *command).stdout


# ibemu ssh ------------------------------------------------------------------


@pytest.fixture
def ssh(fabric):
    """What a command prints on a host."""
    made = fabric(FOUR, sm="static")
    return lambda *words, **more: made.account.run(
        "ibemu", "ssh", f"--fabric={made.socket}", *words, **more)


def test_ssh_runs_a_command_on_a_host(ssh):
    assert ssh("node-3", "uname", "-n").stdout == "node-3\n"
    assert ssh("node-3", "ibstat", "-l").stdout == "ibemu0\n"
    assert ssh("node-3", "exit", 7, check=False).returncode == 7


def test_ssh_lets_a_shell_read_the_words_of_the_command(ssh):
    assert ssh("node-2", "echo  $IBEMU_HOST;", "echo", "a", "  b").stdout == (
        "node-2\na b\n")
    assert ssh("node-2", "echo", "--", "-n").stdout == "-- -n\n"
    assert ssh("node-2", "--", "uname", "-n").stdout == "node-2\n"
    assert ssh("--", "node-2", "uname", "-n").stdout == "node-2\n"


def test_ssh_takes_what_launchers_give_to_ssh(ssh):
    assert ssh("-x", "-o", "BatchMode=yes", "-oConnectTimeout=1", "-tt", "-p22",
               "node-2", "uname", "-n").stdout == "node-2\n"
    assert ssh("node-2", "cat", input="read").stdout == "read"
    assert ssh("-n", "node-2", "cat", input="not read").stdout == ""


def test_ssh_without_a_command_is_a_shell(ssh):
    assert ssh("node-2", input="uname -n").stdout == "node-2\n"


def test_ssh_is_for_who_calls(ssh):
    user = ssh("node-1", "id", "-un").stdout.strip()
    assert ssh(f"{user}@node-2", "id", "-un").stdout.strip() == user
    assert ssh("-l", user, "node-2", "id", "-un").stdout.strip() == user
    for other in (["somebody@node-2"], ["-l", "somebody", "node-2"]):
        done = ssh(*other, "id", check=False)
        assert done.returncode == 125
        assert done.stderr == ('ibemu ssh: there is no user "somebody" on a '
                               f'host but who calls, "{user}"\n')


def test_ssh_tells_what_is_missing(ssh, account):
    assert ssh(check=False).stderr == "ibemu ssh: a NODE is missing\n"
    done = ssh("node-9", "true", check=False)
    assert done.returncode == 125 and '"node-9"' in done.stderr
    done = account.run("ibemu", "ssh", "--fabric=nobody", "node-1", "true",
                       check=False)
    assert done.returncode == 125 and "no daemon listens there" in done.stderr


def test_ssh_inside_a_run_goes_to_another_host_of_its_fabric(account):
    assert told(account, "ibemu", "ssh", "node-4", "uname", "-n") == "node-4"
    assert told(account, "sh", "-c", '"$HYDRA_LAUNCHER_EXEC" -x node-4 uname -n'
                ) == "node-4"


# MPI ------------------------------------------------------------------------


def ring(scratch, compiler):
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    program = scratch / f"ring.{compiler}"
    if not program.exists():
        subprocess.run([compiler, "-O1", "-o", program,
                        HERE / "applications/mpi_ring.c"], check=True)
    return program


def ranks_that_got_the_message(text):
    return sorted(re.findall(r"rank (\d) beside 0: right", text))


class Cluster:
    """Four hosts that MPI reaches by a stand-in for ssh."""

    def __init__(self, lab):
        self.lab = lab
        self.hosts = ["node-1", "node-2", "node-3", "node-4"]

    def sent_bytes(self):
        return [self.lab.sent_bytes(host) for host in self.hosts]

    def sent_by(self, *command):
        """All ranks got the message; the bytes that each host sent for it."""
        before = self.sent_bytes()
        text = self.lab.account.run(*command).stdout
        assert ranks_that_got_the_message(text) == ["0", "1", "2", "3"], text
        return [now - was for was, now in zip(before, self.sent_bytes())]


@pytest.fixture
def cluster(fabric):
    return Cluster(fabric(FOUR, sm="static"))


@pytest.mark.plain_account
def test_mpich_crosses_the_fabric(cluster, scratch):
    """Debian's goes by UCX.  By its defaults."""
    program = ring(scratch, "mpicc.mpich")
    sent = cluster.sent_by("mpiexec.mpich", "-launcher", "ssh",
                           "-launcher-exec",
                           mpi.ssh_stand_in(cluster.lab, cluster.hosts), "-hosts",
                           ",".join(cluster.hosts), "-n", 4, program)
    assert min(sent) > MESSAGE


@pytest.fixture
def open_mpi(cluster, scratch, interface_beside_the_loopback):
    """What each host sends when Open MPI has these options."""
    program = ring(scratch, "mpicc.openmpi")
    return lambda *options: cluster.sent_by(*mpi.open_mpi(
        cluster.lab, cluster.hosts, *options, program))


@pytest.mark.plain_account
def test_open_mpi_crosses_the_fabric(open_mpi):
    """By its defaults, although Debian's leave out UCX on any machine."""
    debian = pathlib.Path("/etc/openmpi/openmpi-mca-params.conf").read_text()
    assert re.search(r"^pml = \^ucx$", debian, re.MULTILINE)
    assert min(open_mpi()) > MESSAGE


@pytest.mark.deep
@pytest.mark.plain_account
def test_open_mpi_crosses_the_fabric_by_what_its_user_chose(open_mpi):
    assert min(open_mpi("--mca", "pml", "ucx")) > MESSAGE
    # Of the network there may be the loopback alone, which it leaves out.
    assert max(open_mpi("--mca", "pml", "ob1", "--mca", "btl_tcp_if_include",
                        "lo")) == 0


def test_a_choice_of_open_mpis_in_the_environment_stays(fabric):
    made = fabric(FOUR, sm="static")
    shown = made.account.run(
        "env", "OMPI_MCA_pml=ob1", *made.on("node-1"), "sh", "-c",
        "env | grep ^OMPI_ | sort").stdout
    assert re.fullmatch("OMPI_MCA_opal_common_ucx_devices=any\n"
                        "OMPI_MCA_plm_rsh_agent=/.*/ibemu-ssh\n"
                        "OMPI_MCA_pml=ob1\n", shown), shown


@pytest.mark.plain_account
def test_a_job_of_mpich_is_one_line(account, scratch):
    text = told(account, "mpiexec.mpich", "-hosts",
                "node-1,node-2,node-3,node-4", "-n", 4,
                ring(scratch, "mpicc.mpich"))
    assert ranks_that_got_the_message(text) == ["0", "1", "2", "3"], text


@pytest.mark.plain_account
def test_a_job_of_open_mpi_is_one_line(account, scratch,
                                       interface_beside_the_loopback):
    root = ["--allow-run-as-root"] if account.name == "root" else []
    text = told(account, "mpirun.openmpi", *root, "--host",
                "node-1,node-2,node-3,node-4", ring(scratch, "mpicc.openmpi"))
    assert ranks_that_got_the_message(text) == ["0", "1", "2", "3"], text


def test_a_launcher_that_the_user_chose_stays(account):
    shown = account.run(
        "env", "OMPI_MCA_plm_rsh_agent=ssh", "HYDRA_LAUNCHER_EXEC=/bin/rsh",
        "ibemu", "run", "--", "sh", "-c",
        "echo $OMPI_MCA_plm_rsh_agent $HYDRA_LAUNCHER_EXEC").stdout
    assert shown == "ssh /bin/rsh\n"
