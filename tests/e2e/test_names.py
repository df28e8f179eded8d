"""What nodes are called: by their files, by programs, and by people."""

import json

TWO_ADAPTERS = """\
switchguid=0x100(100)
Switch 8 "S-1" # "sw1"
[1] "H-1"[1](11)
[2] "H-2"[1](21)
[3] "H-3"[1](31)
[4] "H-4"[1](41)

caguid=0x10
Ca 1 "H-1" # "srv9 mlx5_0"
[1](11) "S-1"[1]

caguid=0x20
Ca 1 "H-2" # "srv9 mlx5_1"
[1](21) "S-1"[2]

caguid=0x30
Ca 1 "H-3" # "twin"
[1](31) "S-1"[3]

caguid=0x40
Ca 1 "H-4" # "twin"
[1](41) "S-1"[4]
"""


def rename(fabric, host, text):
    fabric.run(host, "sh", "-c",
               f"printf '{text}' > /sys/class/infiniband/ibemu0/node_desc")


def descriptions(fabric):
    return [node["description"]
            for node in json.loads(fabric.ibemu("nodes", "--json").stdout)]


def test_the_name_of_the_file_stays_whatever_programs_write(fabric):
    made = fabric("back-to-back", sm="static")
    rename(made, "node-1", "renamed")
    assert "renamed" in descriptions(made)
    made.run("node-1", "true")
    made.run("renamed", "true")
    made.ibemu("link", "node-1/1", "down")
    rename(made, "node-1", "again")
    made.run("node-1", "true")


def test_a_line_end_in_a_name_breaks_no_table(fabric):
    made = fabric("back-to-back", sm="static")
    rename(made, "node-1", r"new\nname\n")
    for command in (["nodes"], ["links"]):
        lines = made.ibemu(*command).stdout.splitlines()
        assert len(lines) == {"nodes": 3, "links": 2}[command[0]]
        assert any("new?name" in line for line in lines)
    rename(made, "node-2", r"srv9\n")
    made.run("srv9", "true")


def test_a_host_is_all_its_adapters(fabric, account):
    net = account.home / "lab.net"
    net.write_text(TWO_ADAPTERS)
    net.chmod(0o644)
    made = fabric(net, sm="static")
    shown = made.run("srv9", "ls", "/sys/class/infiniband").stdout.split()
    assert shown == ["ibemu0", "ibemu1"]
    shown = made.run("srv9 mlx5_1", "ls", "/sys/class/infiniband").stdout
    assert shown.split() == ["ibemu0"]
    done = made.ibemu("device", "srv9", "remove", check=False)
    assert done.returncode == 1
    assert '"srv9" has several adapters: name one, as in "srv9 mlx5_0"' in (
        done.stderr)


def test_a_name_of_two_nodes_is_refused_with_their_guids(fabric, account):
    net = account.home / "lab.net"
    net.write_text(TWO_ADAPTERS)
    net.chmod(0o644)
    made = fabric(net, sm="static")
    for command in (["link", "twin/1", "down"], ["node", "twin", "down"]):
        done = made.ibemu(*command, check=False)
        assert done.returncode == 1
        assert ('2 nodes are called "twin": write one\'s GUID instead: '
                "0x0000000000000030, 0x0000000000000040") in done.stderr
    done = made.run("twin", "true", check=False)
    assert done.returncode == 125
    assert "0x0000000000000040" in done.stderr
    made.ibemu("link", "0x40/1", "down")
    made.run("H-3", "true")
