"""Programs over MPI, one line each: four hosts of a run's fabric."""

import pathlib
import re
import subprocess

import pytest

pytestmark = pytest.mark.deep

HERE = pathlib.Path(__file__).parent
HOSTS = "node-1,node-2,node-3,node-4"
SENT = "/sys/class/infiniband/ibemu0/ports/1/counters/port_xmit_data"
WORDS = 1 << 18  # of four bytes, that each rank of shmem_ring.c sends


def on_four_hosts(account, *command):
    """What a command says in a run, and what each host has sent by then, in
    words of four bytes."""
    hosts = HOSTS.replace(",", " ")
    text = account.run(
        "ibemu", "run", "--topology=single-switch:hosts=4", "--", "sh", "-c",
        f'"$@" && for host in {hosts}; do ibemu ssh $host cat {SENT}; done',
        "-", *command).stdout
    return text, [int(word) for word in text.split()[-4:]]


def root_may(account):
    return ["--allow-run-as-root"] if account.name == "root" else []


@pytest.fixture
def ring(scratch):
    made = scratch / "shmem_ring"
    subprocess.run(["oshcc", "-O1", "-Wall", "-Wextra", "-Werror", "-o", made,
                    HERE / "shmem_ring.c"], check=True)
    made.chmod(0o755)
    return made


def test_openshmem_writes_to_the_memory_of_other_hosts(
        account, ring, interface_beside_the_loopback):
    text, sent = on_four_hosts(account, "oshrun", *root_may(account), "--host",
                               HOSTS, ring)
    assert sorted(re.findall(r"^rank (\d): right$", text, re.M)) == [
        "0", "1", "2", "3"], text
    assert min(sent) > WORDS


HPCC = """\
HPLinpack benchmark input file
ibemu
HPL.out
8                device out
1                # of problems sizes (N)
200              Ns
1                # of NBs
40               NBs
0                PMAP process mapping
1                # of process grids (P x Q)
2                Ps
2                Qs
16.0             threshold
1                # of panel fact
2                PFACTs
1                # of recursive stopping criterium
4                NBMINs
1                # of panels in recursion
2                NDIVs
1                # of recursive panel fact.
1                RFACTs
1                # of broadcast
1                BCASTs
1                # of lookahead depth
1                DEPTHs
2                SWAP
64               swapping threshold
0                L1 in
0                U  in
1                Equilibration
8                memory alignment
"""


def test_the_hpc_challenge_finds_its_results_right(
        account, interface_beside_the_loopback):
    (account.home / "hpccinf.txt").write_text(HPCC)
    _, sent = on_four_hosts(account, "env", "-C", account.home, "mpirun.openmpi",
                            *root_may(account), "--host", HOSTS, "hpcc")
    text = (account.home / "hpccoutf.txt").read_text()
    assert "Success=1" in text, text
    errors = re.findall(r"^(\w+_Errors)=(\d+)$", text, re.M)
    assert errors and not any(int(number) for _, number in errors), errors
    assert re.search(r"\b0 tests completed and failed", text), text
    assert min(sent) > WORDS  # messages of two million bytes among others
