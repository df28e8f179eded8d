"""The example of a job: Debian's client for Kubernetes knows each field."""

import yaml

from harness import ROOT
import manifests

JOB = ROOT / "docs/examples/kubernetes/job.yaml"


def test_every_field_is_one_of_kubernetes():
    for document in yaml.safe_load_all(JOB.read_text()):
        manifests.assert_is_of_kubernetes(document)
