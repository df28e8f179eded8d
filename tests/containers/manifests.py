"""Manifests for Kubernetes: what Debian's client for it knows of them, and the
programs of their pods as podman runs them."""

import base64
import json
import os
import pathlib
import shutil
import types

import kubernetes

MODELS = {"ConfigMap": "V1ConfigMap", "DaemonSet": "V1DaemonSet", "Job": "V1Job",
          "Pod": "V1Pod", "Secret": "V1Secret", "Service": "V1Service",
          "StatefulSet": "V1StatefulSet"}


def assert_is_of_kubernetes(document):
    """The client takes what it knows, checks the types, and wants what must be
    there."""
    client = kubernetes.client.ApiClient()
    answer = types.SimpleNamespace(data=json.dumps(document))
    known = client.deserialize(answer, MODELS[document["kind"]])
    assert client.sanitize_for_serialization(known) == document


def named(documents, kind, name):
    found, = [each for each in documents
              if (each["kind"], each["metadata"]["name"]) == (kind, name)]
    return found


def _folder(place, files, mode):
    place.mkdir(parents=True)
    for name, content in files.items():
        (place / name).write_bytes(content)
        (place / name).chmod(mode)


def _contents(documents, volume):
    """The files of a volume that is made of an object, and their mode."""
    if "secret" in volume:
        secret = named(documents, "Secret", volume["secret"]["secretName"])
        return ({name: base64.b64decode(text)
                 for name, text in secret["data"].items()},
                volume["secret"]["defaultMode"])
    map_ = named(documents, "ConfigMap", volume["configMap"]["name"])
    return {name: text.encode() for name, text in map_["data"].items()}, 0o444


def _volumes(place, documents, owner, spec):
    """{volume: where it is}, below `place`, but for those of the machine that
    every container has."""
    group = spec.get("securityContext", {}).get("fsGroup", 0)
    claims = owner["spec"].get("volumeClaimTemplates", [])
    found = {}
    for volume in spec["volumes"] + [
            {"name": claim["metadata"]["name"], "emptyDir": {}}
            for claim in claims]:
        where = place / volume["name"]
        if "hostPath" in volume:
            if volume["hostPath"]["path"] in ("/dev", "/sys"):
                continue  # --privileged brings them
            where.mkdir(parents=True)
        elif "emptyDir" in volume:
            where.mkdir(parents=True)
            where.chmod(0o2777)
        else:
            _folder(where, *_contents(documents, volume))
        for path in [where, *where.iterdir()]:
            os.chown(path, 0, group)
        found[volume["name"]] = where
    return found


def podman_arguments(place, documents, owner, name="ibemud"):
    """What follows "podman run" for the container `name` of the pods of `owner`, a
    DaemonSet or StatefulSet.  `place`: for their volumes."""
    shutil.rmtree(place, ignore_errors=True)
    spec = owner["spec"]["template"]["spec"]
    container, = [each for each in spec["containers"] if each["name"] == name]
    of_pod = spec.get("securityContext", {})
    rights = container["securityContext"]
    options = []
    if "runAsUser" in of_pod:
        options += [f"--user={of_pod['runAsUser']}:{of_pod['runAsGroup']}"]
    if rights.get("privileged"):
        options += ["--privileged"]
    if not rights.get("allowPrivilegeEscalation", True):
        options += ["--security-opt=no-new-privileges"]
    if rights.get("readOnlyRootFilesystem"):
        options += ["--read-only", "--read-only-tmpfs=false"]
    options += [f"--cap-drop={name}"
                for name in rights.get("capabilities", {}).get("drop", [])]
    # Not hostPID: podman without control groups refuses it.
    volumes = _volumes(pathlib.Path(place), documents, owner, spec)
    for mount in container["volumeMounts"]:
        if mount["name"] in volumes:
            options += [f"--volume={volumes[mount['name']]}:{mount['mountPath']}"
                        + (":ro" if mount.get("readOnly") else "")]
    program, *words = container["command"] + container["args"]
    return [*options, f"--entrypoint={program}", container["image"], *words]
