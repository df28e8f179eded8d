"""Topologies of other programs are read, and written for them."""

import glob
import json
import pathlib
import re

import jsonschema
import netdiscover
import pytest
import yaml
from harness import ROOT, deep

IBSIM = sorted(glob.glob("/usr/share/doc/ibsim-utils/net-examples/net*"))
IBUTILS = sorted(glob.glob("/usr/lib/*/ibdm*/ibnl/*.topo") +
                 glob.glob("/usr/lib/*/ibdm*/ibnl/*.lst"))
SCHEMA = json.loads((ROOT / "docs/topology.schema.json").read_text())
TREE = "fat-tree:radix=4,levels=2"


def export(account, format, spec):
    return account.run("ibemu", "export", f"--format={format}", spec).stdout


def put(account, name, text):
    file = account.home / name
    file.write_text(text)
    file.chmod(0o644)
    return file


def test_the_examples_are_installed():
    assert len(IBSIM) >= 5
    assert len(IBUTILS) >= 9


@pytest.mark.parametrize("file", IBSIM + IBUTILS, ids=lambda f: pathlib.Path(f).name)
def test_examples_of_ibsim_and_ibutils_load(account, file):
    text = account.run("ibemu", "topology", "check", file).stdout
    nodes, links = map(int, re.search(r"(\d+) nodes, (\d+) links", text).groups())
    assert nodes > 1
    assert links >= nodes / 2


def test_ibutils_two_descriptions_of_one_cluster_agree(account):
    """RhinoBased512: its systems (.topo), and what was found of it (.lst)."""
    topo, lst = (next(f for f in IBUTILS if f.endswith(f"/RhinoBased512.{end}"))
                 for end in ("topo", "lst"))
    counts = [re.findall(r"(\d+)  (\d+-port \w+)",
                         account.run("ibemu", "topology", "show", f).stdout)
              for f in (topo, lst)]
    assert counts[0] == counts[1]


@pytest.mark.alone
def test_what_ibdiagnet_found_is_the_subnet(account, fabric):
    made = fabric(TREE, sm="static")
    out = account.home / "ibdiagnet"
    made.run("node-1", "ibdiagnet", "-o", out, timeout=600)
    found = export(account, "ibnetdiscover", out / "ibdiagnet.lst")
    assert netdiscover.parse(found) == netdiscover.parse(
        export(account, "ibnetdiscover", TREE))


def test_what_opensm_left_is_the_subnet(account, fabric):
    made = fabric(TREE)
    out = account.home / "opensm-files"
    out.mkdir(mode=0o777)
    out.chmod(0o777)
    made.run("node-1", "env", f"OSM_TMP_DIR={out}", "opensm", "-o",
             "--log_file", out / "log", "--pidfile", out / "pid")
    found = export(account, "ibnetdiscover", out / "opensm-subnet.lst")
    assert netdiscover.parse(found) == netdiscover.parse(
        export(account, "ibnetdiscover", TREE))


@pytest.mark.parametrize("format, name", [
    ("dot", "a.dot"), ("json", "b"), ("yaml", "c"),
    *deep(("json", "a.json"), ("yaml", "a.yaml"), ("dot", "a"),
          ("ibnetdiscover", "d"))])
def test_what_is_exported_is_read_again(account, format, name):
    for spec in (TREE, "torus:3x2,speed=EDR,hosts=2"):
        file = put(account, name, export(account, format, spec))
        assert (export(account, "ibnetdiscover", file) ==
                export(account, "ibnetdiscover", spec))
        assert export(account, format, file) == export(account, format, spec)


def test_a_running_fabric_is_exported_as_it_is_now(account, fabric):
    made = fabric(TREE)
    made.ibemu("link", "node-1/1", "down")
    document = json.loads(made.ibemu("export", "--format=json").stdout)
    jsonschema.validate(document, SCHEMA)
    assert len(document["nodes"]) == 14
    assert len(document["links"]) == 15
    assert "SwitchName=leaf-1 Nodes=node-2\n" in made.ibemu(
        "export", "--format=slurm").stdout


def test_graphviz_reads_the_graph(account):
    file = put(account, "tree.dot", export(account, "dot", TREE))
    counts = account.run("gvpr", "BEG_G { print(nNodes($), \" \", nEdges($)) }",
                         file).stdout
    assert counts.split() == ["14", "16"]
    drawing = account.run("dot", "-Tplain", file).stdout
    assert drawing.count("\nnode ") == 14


# --- containerlab

# Its own example of a Clos fabric, with what a lab has beside nodes and links.
CLOS = """\
name: clos01
mgmt: {network: clos, ipv4-subnet: 172.20.20.0/24}
topology:
  kinds:
    nokia_srlinux:
      image: ghcr.io/nokia/srlinux
    linux:
      image: ghcr.io/hellt/network-multitool
  nodes:
    leaf1:
      kind: nokia_srlinux
      type: ixr-d2l
    leaf2:
      kind: nokia_srlinux
      type: ixr-d2l
    spine:
      kind: nokia_srlinux
      type: ixr-d3l
    client1:
      kind: linux
      binds: [client1.sh:/client1.sh]
    client2:
      kind: linux

  links:
    - endpoints: ["leaf1:e1-1", "spine:e1-1"]
    - endpoints: ["leaf2:e1-1", "spine:e1-2"]
    - endpoints: ["client1:eth1", "leaf1:e1-2"]
    - endpoints: ["client2:eth1", "leaf2:e1-2"]
"""


def test_a_lab_of_containerlab_is_a_subnet(account, fabric):
    lab = put(account, "clos01.clab.yml", CLOS)
    seen = fabric(lab, sm="static").run("client1", "ibnetdiscover").stdout
    for cable in ("spine", 1, "leaf1"), ("spine", 2, "leaf2"), (
            "leaf1", 2, "client1"), ("leaf2", 2, "client2"):
        name, port, peer = cable
        _, lines = seen.split(f'# "{name}" base port 0', 1)
        assert re.search(rf'^\[{port}\].*# "{peer}" lid', lines.split("\n\n")[0],
                         re.M), seen
    # What `ibemu topology from` and `ibemu export` make of the file is that subnet,
    # too.
    made = account.run("ibemu", "topology", "from", lab).stdout
    assert made == export(account, "ibnetdiscover", lab)
    for text, name in (made, "clos01.net"), (export(account, "yaml", lab),
                                             "clos01.yaml"):
        file = put(account, name, text)
        again = fabric(file, sm="static").run("client1", "ibnetdiscover").stdout
        assert netdiscover.parse(again) == netdiscover.parse(seen)


# --- Slurm

def expand(hostlist):
    """node[1-3,05],x -> node1 node2 node3 node05 x"""
    names = []
    for prefix, ranges in re.findall(r"([^,\[]*)(?:\[([^\]]*)\])?(?:,|$)", hostlist):
        if not ranges:
            names += [prefix] if prefix else []
            continue
        for part in ranges.split(","):
            first, _, last = part.partition("-")
            names += [f"{prefix}{number:0{len(first)}}"
                      for number in range(int(first), int(last or first) + 1)]
    return names


@pytest.mark.parametrize("spec, hosts", [
    (TREE, 8), ("fat-tree:radix=8,levels=3", 128), ("torus:3x3,hosts=2", 18),
    ("dragonfly", 72), ("single-switch:hosts=12", 12)])
def test_slurm_gets_a_tree_with_every_host_under_one_switch(account, spec, hosts):
    below, placed = {}, []
    for line in export(account, "slurm", spec).splitlines():
        if line.startswith("#"):
            continue
        name, kind, members = re.fullmatch(
            r"SwitchName=([\w.-]+) (Nodes|Switches)=([\w.,\[\]-]+)", line).groups()
        assert name not in below
        members = expand(members)
        if kind == "Nodes":
            placed += members
            below[name] = set(members)
        else:  # those were named before: so there is no circle
            below[name] = set().union(*(below[child] for child in members))
    assert sorted(placed) == sorted(f"node-{n}" for n in range(1, hosts + 1))
    assert any(len(reached) == hosts for reached in below.values())


# --- Specs

def test_the_example_spec_obeys_the_schema_and_loads(account):
    example = ROOT / "docs/examples/lab.yaml"
    jsonschema.validate(yaml.safe_load(example.read_text()), SCHEMA)
    file = put(account, "lab.yaml", example.read_text())
    document = json.loads(export(account, "json", file))
    jsonschema.validate(document, SCHEMA)
    rates = {link["rate"] for link in document["links"]}
    assert rates == {"4xNDR", "4xHDR", "1xNDR"}
    assert [link["down"] for link in document["links"] if "down" in link] == [True]


@pytest.mark.parametrize("text", [
    "nodes: [{ports: 1}]", "nodes: [{name: a, prots: 1}]",
    "nodes: [{name: a, ports: 255}]", "nodes: [{name: a}]\nlinks: [{a: a/1}]",
    "generator: fat-tre", "include: x.net\ngenerator: torus:2",
    "nodes: [{name: a, type: box}]", "hosts: node\ngenerator: back-to-back"])
def test_what_the_schema_refuses_is_refused(account, text):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(text), SCHEMA)
    file = put(account, "bad.yaml", text + "\n")
    done = account.run("ibemu", "topology", "check", file, check=False)
    assert done.returncode == 1
    assert re.match(rf"{file}:\d+: ", done.stderr), done.stderr


def test_a_host_shows_its_label_and_a_link_is_down(account, fabric):
    file = put(account, "lab.yaml", """\
generator: single-switch:hosts=3
hosts: cn%02d
profiles:
  card: {match: "cn*", firmware: 16.35.4030, hca_type: MT4119, hardware: 7,
         board_id: MT_0000000012, speed: EDR}
links:
  - {match: cn03/1, down: true}
""")
    made = fabric(file, sm="static")
    text = made.run("cn01", "ibstat").stdout
    assert "CA type: MT4119" in text
    assert "Firmware version: 16.35.4030" in text
    assert "Hardware version: 7" in text
    board = made.run("cn01", "cat", "/sys/class/infiniband/ibemu0/board_id")
    assert board.stdout == "MT_0000000012\n"
    assert "State: Active" in text
    assert "Rate: 100" in text
    assert "State: Down" in made.run("cn03", "ibstat").stdout
    made.ibemu("link", "cn03/1", "up")
    assert "State: Down" not in made.run("cn03", "ibstat").stdout


# --- Recording

def test_a_recorded_subnet_is_the_same_elsewhere(account, fabric):
    made = fabric(TREE, sm="static")
    spec = account.home / "recorded.yaml"
    made.run("node-3", "ibemu", "record", "-o", spec)
    document = yaml.safe_load(spec.read_text())
    jsonschema.validate(document, SCHEMA)
    known = [node for node in document["nodes"] if "firmware" in node]
    assert [node["description"] for node in known] == ["node-3"]

    again = fabric(spec, sm="static")
    first, second = (netdiscover.parse(each.run("node-1", "ibnetdiscover").stdout)
                     for each in (made, again))
    assert first == second
    firmware = re.search(r"Firmware version: (.*)",
                         made.run("node-3", "ibstat").stdout)[1]
    assert f"Firmware version: {firmware}" in again.run("node-3", "ibstat").stdout


def test_recording_reads_files_of_other_machines(account):
    ibstat = put(account, "cn1.ibstat", """\
CA 'mlx5_0'
\tCA type: MT4119
\tNumber of ports: 1
\tFirmware version: 16.35.4030
\tHardware version: 0
\tNode GUID: 0x021be00100000200
\tSystem image GUID: 0x021be00100000200
\tPort 1:
\t\tState: Active
\t\tPort GUID: 0x021be00100000201
\t\tLink layer: InfiniBand
""")
    net = put(account, "net", export(account, "ibnetdiscover", "back-to-back"))
    text = account.run("ibemu", "record", f"--ibnetdiscover={net}",
                       f"--ibstat={ibstat}").stdout
    nodes = {node["description"]: node for node in yaml.safe_load(text)["nodes"]}
    assert nodes["node-2"]["firmware"] == "16.35.4030"
    assert "firmware" not in nodes["node-1"]

    broken = put(account, "broken", "CA 'x'\nNode GUID: ?\n")
    done = account.run("ibemu", "record", f"--ibstat={broken}", check=False)
    assert done.returncode == 1
    assert f"{broken}:2: Node GUID: \"?\"" in done.stderr


def test_without_tools_that_work_recording_says_so(account):
    done = account.run("env", f"PATH={account.programs}", "ibemu", "record",
                       check=False)
    assert done.returncode == 1
    assert '"ibnetdiscover" did not work here' in done.stderr


# --- Mistakes

def test_all_faults_of_a_file_in_one_run(account):
    files = {
        "a.dot": ('graph {\n a -- b [rate=x]\n c [ports=0]\n}\n', [2, 3]),
        "a.lst": ("x\n{ YY }\n", [1, 2]),
        "a.topo": ("Nothing n\n P1 -> Cougar h P7\n P1 -> x\n", [1, 2, 3]),
        "a.yaml": ("nods: []\nlinks:\n  - {a: x}\n", [1, 3]),
    }
    for name, (text, lines) in files.items():
        file = put(account, name, text)
        done = account.run("ibemu", "topology", "check", file, check=False)
        assert done.returncode == 1
        told = [int(line) for line in
                re.findall(rf"^{file}:(\d+): ", done.stderr, re.M)]
        assert told == lines, done.stderr


def test_an_unknown_format_is_one_clear_sentence(account):
    done = account.run("ibemu", "export", "--format=slrum", TREE, check=False)
    assert done.returncode == 1
    assert 'did you mean "slurm"?' in done.stderr
    done = account.run("ibemu", "export", "--fabric=x", TREE, check=False)
    assert done.returncode == 1
    assert "give one of them" in done.stderr


ADDRESSED = """Switch 2 "sw1"
[1] "h1"[1]
[2] "h2"[1]

Ca 1 "h1"  # "h1"
[1] "sw1"[1] a=10.1.0.1/16

Ca 1 "h2"  # "h2"
[1] "sw1"[2]
"""


def addresses_of(lab, host):
    status = json.loads(lab.ibemu("status", "--json", host).stdout)
    return status["adapters"][0]["ports"][0]["addresses"]


def test_addresses_of_a_topology_replace_the_plans(fabric, account):
    file = put(account, "lab.net", ADDRESSED)
    assert "no faults" in account.run("ibemu", "topology", "check", file).stdout
    lab = fabric(file)
    assert addresses_of(lab, "h1") == ["10.1.0.1/16"]
    assert addresses_of(lab, "h2") == ["198.18.0.2/16", "fd1b:e000:0:1::2/64"]
    for format, text in (("ibnetdiscover", " a=10.1.0.1/16\t"),
                         ("yaml", '/1": ["10.1.0.1/16"]'),
                         ("json", '/1": ["10.1.0.1/16"]')):
        assert text in lab.ibemu("export", f"--format={format}").stdout
        assert text in export(account, format, file)
    jsonschema.validate(json.loads(export(account, "json", file)), SCHEMA)
    over = put(account, "plan.txt", "h2 10.9.0.2/16\n")
    lab = fabric(file, options=[f"--addresses={over}"])
    assert addresses_of(lab, "h1") == []
    assert addresses_of(lab, "h2") == ["10.9.0.2/16"]


def test_an_address_of_two_ports_is_told_with_its_line(account):
    file = put(account, "lab.net", ADDRESSED.replace(
        '[1] "sw1"[2]\n', '[1] "sw1"[2] a=10.1.0.1/16\n'))
    check = account.run("ibemu", "topology", "check", file, check=False)
    assert check.returncode == 1
    assert ("lab.net:9: 10.1.0.1 is h1/1's already: an address is of one port "
            "(line 6)\n") in check.stderr
