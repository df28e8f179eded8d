"""`ibemu device-plugin`: pods of a node have the devices of its daemon, as by the
example for CDI."""

import grpc
import pytest
import yaml

from harness import ROOT, Background
from kubelet import Kubelet

FILES = [f"/dev/infiniband/{name}" for name in ("issm0", "rdma_cm", "umad0",
                                                "uverbs0")]


@pytest.fixture
def kubelet(scratch):
    running = []

    def start():
        running.append(Kubelet(scratch / "kubelet/device-plugins"))
        return running[-1]

    yield start
    for one in running:
        one.stop()


@pytest.fixture
def plugin(account, scratch):
    program = Background(account, ["ibemu", "device-plugin", "--slots=2",
                                   "--resource=rdma/hca_shared_devices_a",
                                   f"--kubelet={scratch}/kubelet"])
    yield program
    program.stop()


def run_in_container(account, mounts, files, *command):
    """Runs a command as a container's runtime would: with a /sys, /run and /dev
    of its own, but for what it was given."""
    kept = ["mkdir -p /tmp/kept && mount -t tmpfs none /tmp/kept",
            "mkdir /tmp/kept/dev && cp -a /dev/null "
            f"{' '.join(node for _, node in files)} /tmp/kept/dev"]
    given = ["mount -t tmpfs none /dev && mkdir -p /dev/infiniband",
             "cp -a /tmp/kept/dev/null /dev"]
    given += [f"cp -a /tmp/kept/dev/{node.rsplit('/', 1)[1]} {path}"
              for path, node in files]
    for number, (path, node) in enumerate(mounts):
        place = f"/tmp/kept/{number}"
        kept.append(f"mkdir -p {place} && mount --rbind {node} {place}")
        given.append(f"mkdir -p {path} && mount --rbind {place} {path} &&"
                     f" mount -o remount,bind,ro {path}")
    script = [*kept, "umount -l /sys", "mount -t sysfs none /sys",
              "mount -t tmpfs none /run", *given, 'exec "$@"']
    return account.run("unshare", "--mount", "sh", "-ec", "\n".join(script), "sh",
                       *command, check=False)


@pytest.mark.deep
def test_a_container_has_the_devices_of_its_node(account, kubelet, plugin, system):
    its_kubelet = kubelet()
    shown = system("back-to-back", ["node-1"])
    registered = its_kubelet.plugin()
    assert registered.version == "v1beta1"
    assert registered.resource == "rdma/hca_shared_devices_a"
    # There may be none yet when it begins.
    assert any("Unhealthy" not in registered.health().values() for _ in range(2))
    mounts, files = registered.allocate("slot-1")
    assert sorted(files) == [(path, path) for path in FILES]
    without = run_in_container(account, [], [], "ibv_devinfo")
    assert "Failed to get IB devices list" in without.stderr
    assert "PORT_ACTIVE" in run_in_container(account, mounts, files,
                                             "ibv_devinfo").stdout
    assert "State: Active" in run_in_container(account, mounts, files,
                                               "ibstat").stdout
    shown.daemon.stop()
    assert registered.health() == {"slot-0": "Unhealthy", "slot-1": "Unhealthy"}
    with pytest.raises(grpc.RpcError) as refused:
        registered.allocate("slot-0")
    assert refused.value.code() in (grpc.StatusCode.UNAVAILABLE,
                                    grpc.StatusCode.NOT_FOUND)
    system("back-to-back", ["node-2"])
    assert registered.health() == {"slot-0": "Healthy", "slot-1": "Healthy"}


@pytest.mark.deep
def test_a_container_has_the_devices_by_the_example_for_cdi(account, system):
    spec = yaml.safe_load((ROOT / "docs/examples/kubernetes/cdi.yaml").read_text())
    edits, = (each["containerEdits"] for each in spec["devices"]
              if each["name"] == "machine")
    mounts = [(each["containerPath"], each["hostPath"]) for each in edits["mounts"]]
    files = [(each["path"], each["path"]) for each in edits["deviceNodes"]]
    assert sorted(files) == [(path, path) for path in FILES]
    system("back-to-back", ["node-1"])
    for command, wanted in ("ibv_devinfo", "PORT_ACTIVE"), ("ibstat", "Active"):
        assert wanted in run_in_container(account, mounts, files, command).stdout


@pytest.mark.deep
def test_a_kubelet_that_is_restarted_knows_the_plugin_again(kubelet, plugin):
    first = kubelet()
    assert first.plugin().endpoint == "rdma_hca_shared_devices_a.sock"
    first.stop()
    again = kubelet().plugin()
    assert again.health() == {"slot-0": "Unhealthy", "slot-1": "Unhealthy"}
    plugin.stop()
    assert "no daemon shows devices to this machine" in plugin.output
