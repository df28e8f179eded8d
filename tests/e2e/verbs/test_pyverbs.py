"""rdma-core's own tests of verbs (python3-pyverbs), as Debian packages them.

Which of them a device may leave out, and why, is in pyverbs_skips.txt: a test
that is skipped for another reason, or that is not listed, is a failure.  Those
of librdmacm are in rdma_cm/; those of other vendors' devices are not run.
"""

import re

import pytest

from harness import ROOT
from pyverbs_suite import PACKAGED, environment, results, suite  # noqa: F401

SKIPS = ROOT / "tests/e2e/verbs/pyverbs_skips.txt"
# How many tests of a module must pass: of rdma-core 44, as Debian 12 has it.
MODULES = {
    "test_addr": 2,
    "test_atomic": 7,
    "test_cq": 4,
    "test_cq_events": 2,
    "test_cqex": 1,
    "test_device": 13,
    "test_flow": 0,
    "test_fork": 1,
    "test_mr": 1,
    "test_odp": 0,
    "test_parent_domain": 0,
    "test_pd": 4,
    "test_qp": 21,
    "test_qpex": 0,
    "test_relaxed_ordering": 2,
    "test_rss_traffic": 0,
    "test_shared_pd": 0,
    "test_tag_matching": 0,
}
if (PACKAGED / "test_srq.py").exists():  # rdma-core 56, as Debian 13 has it
    MODULES |= {"test_device": 14, "test_srq": 3}
TIMEOUT = 120  # seconds; each takes less than two


def skips_allowed():
    """Pairs of a test and a pattern for the reason."""
    section, skips = None, {}
    for line in SKIPS.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        if not line.startswith(" "):
            section = line
        else:
            skips[line.strip()] = section
    return skips


def run_module(account, suite, module):
    """The tests that passed; every other one must be allowed to be skipped."""
    done = account.run(
        "ibemu", "run", "--", "/usr/bin/python3", "-B",
        suite / "tests" / "run_tests.py", "--dev", "ibemu0", "-v",
        f"tests.{module}", check=False, cwd=suite, timeout=TIMEOUT,
        env=environment(account, suite))
    told = results(done.stderr)
    ran = re.search(r"^Ran (\d+) tests? in", done.stderr, re.M)
    assert ran and int(ran[1]) == len(told), done.stderr[-4000:]
    allowed = skips_allowed()
    others = {test: result for test, result in told.items()
              if result != "ok" and not (
                  test in allowed and re.search(allowed[test], result))}
    assert not others, done.stderr[-4000:]
    assert done.returncode == 0, done.stderr[-4000:]
    return {test for test, result in told.items() if result == "ok"}


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_module_of_the_suite_passes(account, suite, module):
    """test_qp asks by chance for what ipathverbs has not, and skips itself
    then: half of the times, for ten of its tests."""
    passed = set()
    for _ in range(40 if module == "test_qp" else 1):
        passed |= run_module(account, suite, module)
        if len(passed) >= MODULES[module]:
            break
    assert len(passed) == MODULES[module]
