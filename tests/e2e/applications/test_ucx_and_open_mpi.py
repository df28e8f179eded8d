"""UCX and Open MPI over it on bad links: they go on, or end and are told why."""

import pathlib
import re
import subprocess

import pytest

import mpi
from bad_links import (check_acknowledgements_were_lost, check_flaps_are_told,
                       lose_acknowledgements, reasons)
from harness import Fabric, until, with_environment
from perftest import LINES, free_port, ucx_perftest

SOURCE = pathlib.Path(__file__).with_name("mpi_sums.c")
HOSTS = "node-1", "node-2", "node-3"
ENOUGH = 4 << 20  # bytes, after everybody has met
# UCX waits for 1 s, seven times, else.
HASTY = {"UCX_RC_VERBS_TIMEOUT": "50ms", "UCX_RC_VERBS_RETRY_COUNT": "3"}
UCX = {"UCX_TLS": "rc_v,self", "UCX_NET_DEVICES": "ibemu0:1"}


@pytest.fixture(scope="module")
def sums(scratch):
    made = scratch / "mpi_sums"
    subprocess.run(["mpicc.openmpi", "-O1", "-Wall", "-o", made, SOURCE],
                   check=True)
    made.chmod(0o755)
    return made


@pytest.fixture(scope="module")
def shared(module_account):
    made = Fabric(module_account, "bad-links", "single-switch:hosts=3",
                  sm="builtin")
    yield made
    made.stop()


@pytest.fixture
def lab(shared):
    yield shared
    shared.ibemu("fault", "reset")
    for host in HOSTS:
        shared.ibemu("link", f"{host}/1", "up")


def start_ucx(lab, count, **variables):
    """A server at node-1, and a client at node-2 that sends it messages."""
    command = [*LINES, *with_environment(**UCX, **variables), *ucx_perftest(),
               "-p", free_port()]
    server = lab.start(HOSTS[0], *command)
    server.wait_for("Waiting for connection")
    client = lab.start(HOSTS[1], *command, "127.0.0.1", "-t", "tag_bw", "-s",
                       10000, "-n", count, "-w", 10)
    return server, client


def start_mpi(lab, sums, rounds, **variables):
    """mpirun on a host, and a rank on each."""
    return lab.start(
        HOSTS[0], *with_environment(**variables),
        *mpi.open_mpi(lab, HOSTS,
                      *[word for name in variables for word in ("-x", name)],
                      sums, rounds))


def flap(lab, before):
    """Begins when all have met: UCX takes a port that is active."""
    until(lambda: lab.sent_bytes(HOSTS[1]) > before + ENOUGH)
    lab.ibemu("fault", "add", "link", "node-2/1", "flap", "500ms", "50ms")


def cause_is_told(lab):
    return any(re.search(
        r"RETRY_EXC_ERR: \d+ tries of PSN 0x[0-9a-f]+ in [0-9.]+m?s, none "
        r"answered: dropped at \S+: the link was down from", told)
        for told in reasons(lab, HOSTS))


def test_ucx_goes_on_after_lost_acknowledgements(lab):
    lose_acknowledgements(lab)
    server, client = start_ucx(lab, 500)
    assert client.wait() == 0, client.output
    assert re.search("Final: +500 ", client.output)
    assert server.wait() == 0, server.output
    check_acknowledgements_were_lost(lab)


@pytest.mark.deep
@pytest.mark.alone
def test_ucx_goes_on_over_a_flapping_link(lab):
    before = lab.sent_bytes(HOSTS[1])
    server, client = start_ucx(lab, 50000)
    flap(lab, before)
    assert client.wait() == 0, client.output
    assert server.wait() == 0, server.output
    check_flaps_are_told(lab, HOSTS)


def test_ucx_ends_when_its_link_is_cut_and_the_reason_is_told(lab):
    before = lab.sent_bytes(HOSTS[1])
    server, client = start_ucx(lab, 10 ** 9, **HASTY)
    until(lambda: lab.sent_bytes(HOSTS[1]) > before + ENOUGH)
    lab.ibemu("link", "node-2/1", "down")
    # Whose own packets were all acknowledged has nothing under way that could
    # fail: it waits for messages, on hardware as well (ucx_perftest asks for no
    # keepalive).
    until(lambda: client.process.poll() or server.process.poll())
    until(lambda: re.search("Endpoint timeout|retry counter exceeded",
                            client.output + server.output))
    assert cause_is_told(lab), reasons(lab, HOSTS)


def hears_no_acknowledgements(lab):
    lab.ibemu("fault", "add", "--name=deaf", "qp", "node-2/*", "loss", "opcode",
              "ack", "dir", "rx")


def deafness_is_told(lab):
    return re.search(r"RETRY_EXC_ERR: .*: lost by deaf \(\d+ times\)\n",
                     lab.ibemu("why", "node-2").stdout)


def test_ucx_ends_when_no_acknowledgement_comes_and_the_reason_is_told(lab):
    hears_no_acknowledgements(lab)
    _, client = start_ucx(lab, 10 ** 9, **HASTY)  # the server waits, as above
    assert client.wait() != 0, client.output
    assert re.search("Endpoint timeout|retry counter exceeded", client.output)
    assert deafness_is_told(lab), reasons(lab, HOSTS)


@pytest.fixture
def open_mpi(lab, sums, interface_beside_the_loopback):
    return lambda rounds, **variables: start_mpi(lab, sums, rounds, **variables)


def check(program):
    assert program.wait() == 0, program.output
    assert sorted(re.findall(r"rank (\d): right", program.output)) == [
        "0", "1", "2"], program.output


@pytest.mark.deep
def test_open_mpi_sums_well_in_spite_of_lost_acknowledgements(lab, open_mpi):
    lose_acknowledgements(lab)
    check(open_mpi(50))
    check_acknowledgements_were_lost(lab)


@pytest.mark.deep
@pytest.mark.alone
def test_open_mpi_sums_well_over_a_flapping_link(lab, open_mpi):
    before = lab.sent_bytes(HOSTS[1])
    job = open_mpi(1000)
    flap(lab, before)
    check(job)
    check_flaps_are_told(lab, HOSTS)


@pytest.mark.deep
def test_open_mpi_ends_when_a_rank_is_cut_off_and_the_reason_is_told(
        lab, open_mpi):
    before = lab.sent_bytes(HOSTS[1])
    job = open_mpi(10 ** 9, **HASTY)
    until(lambda: lab.sent_bytes(HOSTS[1]) > before + ENOUGH)
    lab.ibemu("link", "node-2/1", "down")
    assert job.wait() != 0, job.output
    assert cause_is_told(lab), reasons(lab, HOSTS)


@pytest.mark.deep
def test_open_mpi_ends_when_a_rank_hears_no_acknowledgements_and_is_told_why(
        lab, open_mpi):
    hears_no_acknowledgements(lab)
    job = open_mpi(10 ** 9, **HASTY)
    assert job.wait() != 0, job.output
    assert deafness_is_told(lab), reasons(lab, HOSTS)
