"""gloo, the collectives under PyTorch: sums over its transport of verbs, on good
links and on bad ones."""

import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

import bad_links
from harness import Fabric, until

SOURCE = pathlib.Path(__file__).with_name("gloo_allreduce.cc")
HOSTS = "node-1", "node-2", "node-3"
FEW, MANY, NO_END = 20, 300, 10 ** 9
ENOUGH = 4 << 20  # bytes, after everybody has met


@pytest.fixture(scope="module")
def program(scratch):
    made = scratch / SOURCE.stem
    subprocess.run(["g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror",
                    "-o", made, SOURCE, "-lgloo", "-libverbs", "-pthread"],
                   check=True)
    made.chmod(0o755)
    return made


@pytest.fixture(scope="module")
def lab(module_account):
    made = Fabric(module_account, "gloo", "single-switch:hosts=3", sm="builtin")
    yield made
    made.stop()


@pytest.fixture
def ranks(lab, program):
    """Starts a rank on each host, which sum `rounds` times."""
    meeting = tempfile.mkdtemp(prefix="gloo.", dir=lab.account.home)
    pathlib.Path(meeting).chmod(0o777)

    def start(rounds):
        return [lab.start(host, program, meeting, rank, len(HOSTS), "ibemu0",
                          rounds) for rank, host in enumerate(HOSTS)]

    yield start
    lab.ibemu("fault", "reset")
    shutil.rmtree(meeting)


def check(started, rounds):
    for rank, program in enumerate(started):
        assert program.wait() == 0, program.output
        assert program.output == f"rank {rank}: {rounds} sums are right\n"


@pytest.mark.deep
def test_three_hosts_sum_their_vectors(ranks):
    check(ranks(FEW), FEW)


def test_lost_acknowledgements_change_no_sum(lab, ranks):
    bad_links.lose_acknowledgements(lab)
    check(ranks(FEW), FEW)
    bad_links.check_acknowledgements_were_lost(lab)


# Alone, as what else has flapping links: a packet is sent again for half a
# second, in which the subnet manager has to find the link and bring it up.
@pytest.mark.deep
@pytest.mark.alone
def test_a_flapping_link_changes_no_sum(lab, ranks):
    lab.ibemu("fault", "add", "link", "node-2/1", "flap", "500ms", "50ms")
    check(ranks(MANY), MANY)
    bad_links.check_flaps_are_told(lab, HOSTS)


# Whose own packets were all acknowledged waits for as long as it is patient.
@pytest.mark.deep
def test_all_end_when_one_is_cut_off_and_the_reason_is_told(lab, ranks):
    started, before = ranks(NO_END), lab.sent_bytes("node-3")
    until(lambda: lab.sent_bytes("node-3") > before + ENOUGH)
    lab.ibemu("link", "node-2/1", "down")
    for program in started:
        assert program.wait() != 0
        assert re.search("retry counter exceeded|[Tt]imed? ?out",
                         program.output), program.output
    lab.ibemu("link", "node-2/1", "up")
    reasons = bad_links.reasons(lab, HOSTS)
    assert any(re.search("RETRY_EXC_ERR: .*: the link was down from", told)
               for told in reasons), reasons
