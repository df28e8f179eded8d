"""The manifests for Kubernetes: Debian's client knows each of their fields."""

import json
import types

import kubernetes
import pytest
import yaml

from harness import ROOT

FOLDER = ROOT / "docs/examples/kubernetes"
MODELS = {"ConfigMap": "V1ConfigMap", "Service": "V1Service", "Job": "V1Job",
          "StatefulSet": "V1StatefulSet", "DaemonSet": "V1DaemonSet"}


def documents(name):
    return list(yaml.safe_load_all((FOLDER / name).read_text()))


@pytest.mark.parametrize("name", sorted(
    path.name for path in FOLDER.glob("*.yaml") if path.name != "cdi.yaml"))
def test_every_field_is_one_of_kubernetes(name):
    client = kubernetes.client.ApiClient()
    for document in documents(name):
        answer = types.SimpleNamespace(data=json.dumps(document))
        # It takes what it knows, checks the types, and wants what must be there.
        known = client.deserialize(answer, MODELS[document["kind"]])
        assert client.sanitize_for_serialization(known) == document
