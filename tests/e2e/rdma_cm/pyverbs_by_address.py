"""Runs rdma-core's own tests of librdmacm.  They ask an adapter's network
interface for its address, and are told it here: pyverbs_by_address.py ADDRESS
--dev DEVICE."""

import os
import sys
import unittest

sys.path[:0] = [os.getcwd(), os.path.join(os.getcwd(), "tests")]

# As its own tests/run_tests.py does.
from args_parser import parser  # noqa: E402
import tests.base  # noqa: E402

ADDRESS = sys.argv.pop(1)


def tell_address(self, device, port, gid_index):
    self.args.append([device, port, gid_index, ADDRESS, None])


tests.base.RDMATestCase._get_ip_mac = tell_address
parser.parse_args()
unittest.main(module="tests.test_rdmacm", argv=[sys.argv[0], "-v"])
