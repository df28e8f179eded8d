"""Twenty hosts at once, each with a tool of its own, while opensm sweeps."""

import re

# Of one timeout, in milliseconds, for the whole answer.
SAQUERY = ["saquery", "-t", "20000"]
TOOLS = [
    ["ibnetdiscover"], ["iblinkinfo"], ["ibstat"], ["ibstatus"], ["sminfo"],
    ["ibqueryerrors"], [*SAQUERY, "NR"], [*SAQUERY, "PIR"], [*SAQUERY, "LR"],
    ["perfquery"], ["perfquery", "-x"], ["smpquery", "-D", "nodeinfo", "0"],
    ["smpquery", "-D", "portinfo", "0,1", "1"], ["ibaddr"], ["dump_lfts"],
    ["ibhosts"], ["ibswitches"], [*SAQUERY, "SWIR"], ["ibnodes"],
]


def test_twenty_hosts_run_different_tools_while_opensm_sweeps(fabric):
    subnet = fabric("fat-tree:radix=12,levels=2")
    opensm = subnet.start_opensm("node-1", "-s", "1")
    clients = [subnet.start(f"node-{i}", *tool)
               for i, tool in enumerate(TOOLS, start=2)]
    assert len(clients) + 1 == 20
    for tool, client in zip(TOOLS, clients):
        assert client.wait() == 0, (tool, client.output[-2000:])
    assert clients[0].output.count("\nCa\t") == 72
    assert len(re.findall("NodeRecord dump", clients[6].output)) == 72 + 18
    assert " ERR " not in opensm.output
