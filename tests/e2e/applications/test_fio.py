"""fio's rdma engine: blocks that a host writes, reads or sends to another."""

import json

import pytest

from by_address import PAIR, SERVER, meet
from harness import Fabric

BLOCK, COUNT = 64 << 10, 256
BYTES = BLOCK * COUNT
COMMON = ["fio", "--ioengine=rdma", "--port=7890", f"--bs={BLOCK}",
          f"--size={BYTES}", "--output-format=json", "--name=job"]


@pytest.fixture(scope="module")
def pair(module_account):
    made = Fabric(module_account, "fio", PAIR, sm="builtin")
    yield made
    made.stop()


def blocks(pair, verb, receives=(), sends=()):
    """How many blocks each side says it has moved: receiver, sender."""
    told = meet(pair, [*COMMON, "--rw=read", *receives],
                [*COMMON, "--rw=write", f"--hostname={SERVER}", f"--verb={verb}",
                 *sends])
    jobs = [json.loads(text[text.index("{\n"):])["jobs"][0] for text in told]
    assert [job["error"] for job in jobs] == [0, 0]
    return jobs[0]["read"]["total_ios"], jobs[1]["write"]["total_ios"]


@pytest.mark.parametrize("verb", ["write", "read"])
def test_blocks_go_to_the_memory_of_another_host(pair, verb):
    deep = ["--iodepth=16"]
    assert blocks(pair, verb, deep, deep)[1] == COUNT


# The sender has rnr_retry 0, so the receiver posts a request for all beforehand.
def test_blocks_that_are_sent_arrive_as_they_were(pair):
    checks = ["--verify=crc32c"]
    assert blocks(pair, "send", [f"--iodepth={COUNT}", *checks],
                  ["--iodepth=1", "--do_verify=0", *checks]) == (COUNT, COUNT)
