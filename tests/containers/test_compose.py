"""The example of a compose file, with Debian's podman-compose."""

from harness import ROOT, until

FILE = ROOT / "docs/examples/compose/compose.yaml"


def test_two_hosts_measure_their_bandwidth(account, image):
    def compose(*arguments):
        return account.run("podman-compose", f"--file={FILE}",
                           "--project-name=lab", *arguments,
                           env={**account.environment, "IBEMU_IMAGE": image})

    try:
        compose("up", "--detach")
        # It is started again until the others are there.
        until(lambda: "BW average" in
              account.podman("logs", "lab_node-2_1").stdout)
        until(lambda: account.podman(
            "inspect", "--format={{.State.Status}} {{.State.ExitCode}}",
            "lab_node-2_1").stdout.split() == ["exited", "0"])
    finally:
        compose("down", "--volumes")
