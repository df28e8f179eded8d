"""How time and memory grow with the subnet, from 1,024 to 65,536 hosts."""

from bench_lab import Ibemu, figure, head, timed

TREE = "fat-tree:radix=64,levels=3"
SIZES = (1024, 4096, 16384, 45056, 65536)  # hosts
MOST_LIDS = 45056  # hosts of the largest such tree that has enough of them
# Wanted: (seconds, MiB).
WANTED = {("none", 65536): (3, 600), ("static", 45056): (10, None),
          ("builtin", 45056): (10, None)}


def at_most(limit):
    return None if limit is None else ("less", limit)


def bench_scale(scratch, _hosts):
    for sm in ("none", "static", "builtin"):
        head(f"Loading a tree of 64-port switches, --sm={sm}", other="")
        for hosts in SIZES:
            if sm != "none" and hosts > MOST_LIDS:
                continue
            simulator = Ibemu(scratch, f"{TREE},hosts={hosts}", 0, sm)
            seconds = simulator.server.load_seconds
            memory = simulator.server.memory_mib()
            simulator.server.stop()
            wanted = WANTED.get((sm, hosts), (None, None))
            figure(f"{hosts} hosts", seconds, "s", at_most(wanted[0]))
            figure(f"{hosts} hosts, of each", seconds / hosts * 1e6, "us")
            figure(f"{hosts} hosts, memory", memory, "MiB", at_most(wanted[1]))
    head("ibnetdiscover, --sm=none", other="")
    for hosts in SIZES:
        simulator = Ibemu(scratch, f"{TREE},hosts={hosts}", 0)
        seconds = timed(simulator,
                        simulator.command("node-1", 1, "ibnetdiscover"))
        simulator.server.stop()
        figure(f"{hosts} hosts", seconds, "s")
        figure(f"{hosts} hosts, of each", seconds / hosts * 1e6, "us")
