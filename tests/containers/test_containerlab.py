"""The example of a lab of containerlab, which Debian has not: what containerlab
knows of its keys, and its nodes by podman."""

import json
import re
import shlex
import shutil

import jsonschema
import pytest
import yaml

from harness import ROOT, until

FILE = ROOT / "docs/examples/containerlab/ibemu.clab.yml"
README = FILE.with_name("README.md")
NAME = "^[a-zA-Z0-9][a-zA-Z0-9-._]*$"


def only(*required, **properties):
    return {"type": "object", "properties": properties, "required": list(required),
            "additionalProperties": False}


def list_of(item, **more):
    return {"type": "array", "items": item, "minItems": 1, "uniqueItems": True,
            **more}


TEXT = {"type": "string"}
TEXTS = list_of(TEXT)
STAGE = {"enum": ["create", "create-links", "configure", "healthy", "exit"]}
NODE = only(kind={"enum": ["linux"]}, image=TEXT, entrypoint=TEXT, cmd=TEXT,
            labels={"type": "object", "additionalProperties": TEXT}, binds=TEXTS,
            ports=TEXTS, env={"type": "object", "additionalProperties": TEXT},
            healthcheck=only("test", test=TEXTS, interval={"type": "integer"}),
            stages=only(create=only(**{"wait-for": list_of(
                only("node", "stage", node=TEXT, stage=STAGE))})))
# Of what containerlab's schemas/clab.schema.json allows, what examples may need.
LAB = only(
    "name", "topology", name={"type": "string", "pattern": NAME},
    topology=only(
        "nodes", defaults=NODE,
        nodes={"type": "object", "patternProperties": {NAME: NODE},
               "additionalProperties": False},
        links={"type": "array", "items": only(
            "endpoints", endpoints=list_of(
                {"type": "string", "pattern": r"^[\w.-]+:[\w-]+$"}, minItems=2,
                maxItems=2))}))


@pytest.fixture
def lab():
    return yaml.safe_load(FILE.read_text())


def node_of(lab, name):
    return {**lab["topology"]["defaults"], **lab["topology"]["nodes"][name]}


def test_every_key_is_one_of_containerlab(lab):
    jsonschema.validate(lab, LAB)
    nodes = lab["topology"]["nodes"]
    ends = [end.split(":") for link in lab["topology"]["links"]
            for end in link["endpoints"]]
    assert {node for node, _ in ends} == set(nodes)
    # eth0 is of the management network.
    assert "eth0" not in {interface for _, interface in ends}
    for name in nodes:
        assert {"kind", "image"} <= node_of(lab, name).keys()


@pytest.mark.parametrize("change", [
    {"topology": {"nodes": {"a": {"kind": "linux", "command": "x"}}}},
    {"topology": {"nodes": {"a": {"kind": "linux", "binds": "certs:/certs"}}}},
    {"topology": {"nodes": {}, "links": [{"endpoints": ["a:eth1"]}]}},
    {"topology": {"nodes": {}, "links": [{"endpoints": ["a", "b"]}]}},
    {"services": {}}], ids=json.dumps)
def test_other_keys_are_refused(lab, change):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**lab, **change}, LAB)


def container_of(lab, name):
    """What containerlab calls it."""
    return f"clab-{lab['name']}-{name}"


def podman_arguments(lab, name, place):
    """What follows "podman run", as containerlab has it: privileged, entrypoint and
    command split as a shell does, paths relative to the file in `place`."""
    node = node_of(lab, name)
    binds = [f"--volume={place}/{bind}" for bind in node["binds"]]
    return ["--privileged", f"--name={container_of(lab, name)}",
            f"--hostname={name}", *binds,
            "--entrypoint=" + json.dumps(shlex.split(node["entrypoint"])),
            node["image"], *shlex.split(node["cmd"])]


def test_its_containers_are_the_hosts_of_its_subnet(account, image, network, lab,
                                                    start):
    place = account.home / "lab"
    (place / "certs").mkdir(parents=True)
    shutil.copy(FILE, place)
    words = re.search(r"localhost/ibemu (certs /certs .*)", README.read_text())[1]
    account.podman("run", "--rm", f"--volume={place}/certs:/certs",
                   "--entrypoint=ibemu", image, *words.split())

    def within(name, *command):
        return ["exec", container_of(lab, name), *command]

    def is_healthy(name):
        kind, *command = node_of(lab, name)["healthcheck"]["test"]
        assert kind == "CMD"
        return account.podman(*within(name, *command), check=False).returncode == 0

    for name in lab["topology"]["nodes"]:
        create = node_of(lab, name).get("stages", {}).get("create", {})
        for each in create.get("wait-for", []):
            assert each["stage"] == "healthy"
            until(lambda node=each["node"]: is_healthy(node))
        start("podman", "run", "--rm", network,
              *podman_arguments(lab, name, place))

    def joined():
        told = account.podman(*within("head", "ibemu", "status", "--json"),
                              check=False).stdout
        return {each["node"] for each in json.loads(told or "{}").get("joined", [])}

    until(lambda: joined() == {"node-1", "node-2"})

    def on(host, *command):
        return within(host, "ibemu", "run", "--fabric=default", "--", *command)

    seen = account.podman(*on("node-1", "ibnetdiscover")).stdout
    assert re.findall(r"^(?:Switch|Ca)\t.*# \"([^\"]*)\"", seen, re.M) == [
        "head", "node-2", "node-1"]
    server = start("podman", *on("node-1", "rping", "-s", "-C", "10"))
    until(lambda: account.podman(
        *on("node-2", "rping", "-c", "-a", "node-1", "-C", "10"),
        check=False).returncode == 0)
    assert server.wait() == 0, server.output
