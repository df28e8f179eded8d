"""rdma-core's own tests of librdmacm: both ends are on one host, by its own
address."""

import pathlib

from by_address import SERVER
from pyverbs_suite import results, suite  # noqa: F401

RUNNER = pathlib.Path(__file__).with_name("pyverbs_by_address.py")
COUNT = 10
PATIENCE = 300  # seconds; together they take six


def test_the_suite_passes(account, suite, scratch):  # noqa: F811
    # Where everybody can read it.
    runner = scratch / RUNNER.name
    runner.write_bytes(RUNNER.read_bytes())
    done = account.run("ibemu", "run", "--", "/usr/bin/python3", "-B", runner,
                       SERVER, "--dev", "ibemu0", check=False, cwd=suite,
                       timeout=PATIENCE)
    assert list(results(done.stderr).values()) == ["ok"] * COUNT, done.stderr
    assert done.returncode == 0, done.stderr
