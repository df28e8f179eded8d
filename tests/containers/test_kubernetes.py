"""The examples of pods: Debian's client for Kubernetes knows each field."""

import pytest
import yaml

from harness import ROOT
import manifests

EXAMPLES = ROOT / "docs/examples/kubernetes"


@pytest.mark.parametrize("name", ["job.yaml", "pod.yaml"])
def test_every_field_is_one_of_kubernetes(name):
    for document in yaml.safe_load_all((EXAMPLES / name).read_text()):
        manifests.assert_is_of_kubernetes(document)
