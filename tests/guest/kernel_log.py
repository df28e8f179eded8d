"""What the log of a guest's kernel must not have, whatever the test."""

import re

# Anywhere, and in what the launcher says.
BAD_SIGNS = ("Oops", "BUG:", "WARNING:", "Call Trace", "Kernel panic",
             "Blocked re-entrant IO")
# Of syslog: the kernel's errors have this level or a lower one.
ERROR, WARNING = 3, 4
# Who has to be without warnings, too.
DRIVERS = re.compile(r"mlx4|infiniband|\bib_|umad|uverbs|ipoib|rdma|vfio"
                     r"|0000:00:10\.0")
# What these say when something is wrong, at whatever level.
COMPLAINT = re.compile(r"fail|error|timed? ?out|unexpected|invalid",
                       re.IGNORECASE)
# What every guest may say.
HARMLESS = (
    # The drivers' defaults are for Ethernet, of which the adapter has none.
    r"mlx4_core .*: Requested number of (MACs|VLANs) is too much for port",
    # Of each request that waits when its client goes.
    r"ib_srpt receiving failed for ioctx .* with status 5",
)


def faults(raw, provoked=()):
    """What is wrong with the lines of `dmesg -r`.  `provoked` are patterns of
    the errors that a test causes by design, each of which has to come."""
    missing = dict.fromkeys(provoked)
    found = []
    for line in raw.splitlines():
        # A facility is in the bits above the level.
        level = int(re.match(r"<(\d+)>", line)[1]) & 7
        bad = level <= ERROR or any(sign in line for sign in BAD_SIGNS)
        if DRIVERS.search(line):
            bad |= level <= WARNING or bool(COMPLAINT.search(line))
        if not bad:
            continue
        fitting = [pattern for pattern in provoked if re.search(pattern, line)]
        for pattern in fitting:
            missing.pop(pattern, None)
        if not fitting and not any(re.search(pattern, line)
                                   for pattern in HARMLESS):
            found.append(line)
    return found + [f"there is no error like: {pattern}" for pattern in missing]
