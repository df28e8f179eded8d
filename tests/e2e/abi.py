"""What umad_abi tells, and what it is expected to tell.

umad_abi (its sources stand in umad_abi/) says what it observes; linux.txt holds
what Linux 6.1 does, after recordings of it, run_mode.txt and cuse.txt the lines
that FUSE and CUSE make different.  hca.txt has what an mlx4 adapter makes
different: its completions give the permissive LID as the sender of an SMP on a
directed route.
"""

import pathlib

HERE = pathlib.Path(__file__).parent / "umad_abi"
PROGRAM = "tests/e2e/umad_abi/umad_abi"  # in a build tree
# What pulls umad1's adapter out of its host, and plugs it in again.
ADAPTER = {"UMAD_ABI_REMOVE": "ibemu device node-2 remove",
           "UMAD_ABI_ADD": "ibemu device node-2 add"}


def observed(text):
    return dict(line.split(": ", 1) for line in text.splitlines())


def transcript(name):
    return observed((HERE / name).read_text())


def expected(front_end):
    return {**transcript("linux.txt"), **transcript(front_end)}
