"""The Helm chart, by Helm's template engine (render_chart.go)."""

import json
import os
import re
import subprocess

import jsonschema
import pytest
import yaml

from harness import ROOT, until
from kubelet import Kubelet
import manifests

CHART = ROOT / "packaging/chart"
OTHERS = {
    "as it comes": {},
    "no hosts": {"hosts": {"enabled": False}},
    "no journal": {"head": {"journal": {"enabled": False}}},
    "certificates of others": {"certificates": {"head": "one", "hosts": "two"}},
    "places": {each: {"nodeSelector": {"rack": "1"},
                      "tolerations": [{"key": "lab", "operator": "Exists"}],
                      "options": ["--seed=7"]} for each in ("head", "hosts")},
    "no device plugin": {"hosts": {"devicePlugin": {"enabled": False}}},
    "a class of storage": {"head": {"journal": {"storageClassName": "fast"}}},
}


@pytest.fixture(scope="session")
def engine(scratch):
    program = scratch / "render_chart"
    subprocess.run(
        ["go", "build", "-o", program, ROOT / "tests/containers/render_chart.go"],
        check=True, env={**os.environ, "GO111MODULE": "off",
                         "GOPATH": "/usr/share/gocode",
                         "GOCACHE": str(scratch / "go")})
    return program


@pytest.fixture
def render(engine):
    def render(values=None, release="lab", existing=(), check=True):
        done = subprocess.run(
            [engine, CHART], text=True, capture_output=True, check=check,
            input=json.dumps({"release": release, "values": values or {},
                              "existing": list(existing)}))
        if not check:
            return done
        return [each for each in yaml.safe_load_all(done.stdout) if each]

    return render


def secrets(documents):
    return [each for each in documents if each["kind"] == "Secret"]


@pytest.mark.parametrize("name", OTHERS)
def test_every_field_is_one_of_kubernetes(render, name):
    documents = render(OTHERS[name])
    assert len(documents) >= 3
    for document in documents:
        manifests.assert_is_of_kubernetes(document)


def test_what_is_not_wanted_is_left_out(render):
    def kinds(name):
        return sorted(each["kind"] for each in render(OTHERS[name]))

    assert kinds("as it comes") == ["ConfigMap", "DaemonSet", "Secret", "Secret",
                                    "Service", "StatefulSet"]
    assert "DaemonSet" not in kinds("no hosts")
    hosts = manifests.named(render(OTHERS["no device plugin"]), "DaemonSet",
                            "lab-hosts")
    assert "device-plugin" not in json.dumps(hosts)
    assert "Secret" not in kinds("certificates of others")
    head = manifests.named(render(OTHERS["no journal"]), "StatefulSet", "lab-head")
    assert "volumeClaimTemplates" not in head["spec"]
    assert "journal" not in json.dumps(head)


def test_options_and_places_are_those_of_the_component(render):
    documents = render(OTHERS["places"])
    for kind, name in ("StatefulSet", "lab-head"), ("DaemonSet", "lab-hosts"):
        pod = manifests.named(documents, kind, name)["spec"]["template"]["spec"]
        assert pod["nodeSelector"] == {"rack": "1"}
        assert pod["tolerations"] == [{"key": "lab", "operator": "Exists"}]
        assert pod["containers"][0]["args"][-1] == "--seed=7"


def test_an_upgrade_keeps_the_certificates(render):
    first = render()
    assert secrets(first) != secrets(render())
    kept = secrets(render(existing=first))
    assert [each["data"] for each in kept] == [
        each["data"] for each in secrets(first)]


@pytest.mark.parametrize("release", ["1lab", "a.b", "lab" * 20])
def test_a_release_whose_name_makes_no_service_is_refused(render, release):
    done = render(release=release, check=False)
    assert done.returncode != 0
    assert "that of a Service" in done.stderr


def test_certificates_are_of_one_authority(render):
    done = render({"certificates": {"head": "one"}}, check=False)
    assert done.returncode != 0
    assert "one authority signs both" in done.stderr


def test_its_version_is_the_projects(render):
    version = re.search(r"^  version: '(.*)'", (ROOT / "meson.build").read_text(),
                        re.M)[1]
    about = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert (about["version"], about["appVersion"]) == (version, version)


def test_its_schema_knows_its_values():
    schema = json.loads((CHART / "values.schema.json").read_text())
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(values, schema)
    # Each that there is, and none beside.
    for part in [values, values["head"], values["hosts"], values["certificates"],
                 values["hosts"]["devicePlugin"]]:
        with pytest.raises(jsonschema.ValidationError, match="mistyped"):
            part["mistyped"] = 1
            jsonschema.validate(values, schema)
        del part["mistyped"]


@pytest.mark.parametrize("values", [
    {"image": ""}, {"topology": {}}, {"imagePullPolicy": "Often"},
    {"head": {"options": ["sm=none"]}}, {"head": {"journal": {"size": "64K"}}},
    {"hosts": {"frontEnd": "kernel"}}, {"hosts": {"devicePlugin": {"slots": 0}}},
    {"hosts": {"devicePlugin": {"resource": "ibemu"}}}, {"certificates": {"days": 0}}],
    ids=json.dumps)
def test_its_schema_refuses(values):
    schema = json.loads((CHART / "values.schema.json").read_text())
    del schema["required"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(values, schema)


def test_its_pods_are_hosts_of_one_subnet(account, image, network, render, start):
    # Where the test's machine has CUSE, its pods would make its devices.
    documents = render({"hosts": {"frontEnd": "fuse"}})

    def pod(name, owner):
        arguments = manifests.podman_arguments(account.home / name, documents,
                                               owner)
        return start("podman", "run", "--rm", f"--name={name}",
                     f"--hostname={name}", network, *arguments)

    head = manifests.named(documents, "StatefulSet", "lab-head")
    hosts = manifests.named(documents, "DaemonSet", "lab-hosts")
    # Others call it by the name of its Service, which podman has not.
    pod(head["spec"]["serviceName"], head).wait_for(r"\bready\b")
    for name in "first", "second":
        pod(name, hosts).wait_for(r"\bready\b")
    probe = hosts["spec"]["template"]["spec"]["containers"][0]["readinessProbe"]
    account.podman("exec", "first", *probe["exec"]["command"])

    def within(name, *command):
        return ["exec", name, "ibemu", "run", "--fabric=default-lab", "--",
                *command]

    names = [account.podman(*within(name, "printenv", "IBEMU_HOST")).stdout.strip()
             for name in ("first", "second")]
    joined = json.loads(account.podman(
        "exec", "lab-head", "ibemu", "status", "--json").stdout)["joined"]
    assert sorted(each["node"] for each in joined) == sorted(names)
    server = start("podman", *within("first", "rping", "-s", "-C", "10"))
    until(lambda: account.podman(
        *within("second", "rping", "-c", "-a", names[0], "-C", "10"),
        check=False).returncode == 0)
    assert server.wait() == 0


def test_its_device_plugin_registers_without_capabilities(account, image, render, start):
    documents = render()
    place = account.home / "plugin"
    arguments = manifests.podman_arguments(
        place, documents, manifests.named(documents, "DaemonSet", "lab-hosts"),
        "device-plugin")
    kubelet = Kubelet(place / "kubelet")
    try:
        start("podman", "run", "--rm", "--name=plugin", *arguments)
        registered = kubelet.plugin()
        assert registered.resource == "rdma/ibemu"
        assert set(registered.health().values()) == {"Unhealthy"}
    finally:
        kubelet.stop()
