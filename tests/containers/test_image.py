"""Programs on hosts of a fabric, by the image's entrypoint."""

import json

import pytest

from harness import until
from perftest import LINES
from podman import ALLOWED, LEAST

RUN = ["run", "--rm", *ALLOWED]


@pytest.mark.parametrize("options", [ALLOWED, LEAST, ["--privileged"]],
                         ids=["allowed", "least", "privileged"])
def test_without_a_word_it_shows_an_adapter(account, image, options):
    text = account.podman("run", "--rm", *options, image).stdout
    assert "hca_id:\tibemu0" in text
    assert "PORT_ACTIVE" in text


@pytest.mark.parametrize("user", ["root", "1000"])
def test_its_arguments_are_those_of_ibemu_run(account, image, user):
    text = account.podman(*RUN, f"--user={user}", image, "--host=node-2", "--",
                          "sh", "-c", "hostname; ibstat").stdout
    assert text.startswith("node-2\nCA 'ibemu0'\n")
    assert "State: Active" in text


def test_a_subnet_manager_brings_the_subnet_up(account, image):
    text = account.podman(
        *RUN, image, "--topology=fat-tree:radix=8,levels=2", "--sm=none", "--",
        "sh", "-ec", "opensm --log_file stdout >log & "
        "until grep 'SUBNET UP' log; do sleep 0.1; done; ibnetdiscover").stdout
    assert "SUBNET UP" in text
    assert text.count("\nCa\t") == 32


def test_messages_go_from_adapter_to_adapter(account, image):
    text = account.podman(
        *RUN, image, "--host=node-1", "--host=node-2", "--", "sh", "-ec",
        "ibv_rc_pingpong -d ibemu0 & until ibv_rc_pingpong -d ibemu1 localhost; "
        "do sleep 0.1; done; wait").stdout
    assert text.count("8192000 bytes") == 2


def test_the_status_is_the_programs(account, image):
    done = account.podman(*RUN, image, "sh", "-c", "exit 17", check=False)
    assert done.returncode == 17


def test_who_has_no_dev_fuse_is_told_what_is_missing(account, image):
    done = account.podman("run", "--rm", image, check=False)
    assert done.returncode == 125
    assert "/dev/fuse" in done.stderr


def test_two_containers_are_hosts_of_one_fabric(account, image, network, start):
    certificates = account.home / "certs"
    shared = f"--volume={certificates}:/certs"
    certificates.mkdir()
    account.podman("run", "--rm", shared, "--entrypoint=ibemu", image, "certs",
                   "/certs", "head", "node-1", "node-2")
    start("podman", "run", "--rm", "--name=head", network, shared,
          "--entrypoint=ibemud", image, "single-switch:hosts=4", "--listen=7471",
          "--certs=/certs/head").wait_for(r"\bready\b")

    def host(name, *command):
        return ["podman", "run", "--rm", f"--name={name}", *ALLOWED, network,
                shared, image, "--join=head:7471", f"--certs=/certs/{name}",
                f"--host={name}", "--", *command]

    server = start(*host("node-1", *LINES, "ib_send_bw", "-F", "-R"))
    server.wait_for("Waiting for client")
    joined = json.loads(account.podman(
        "exec", "head", "ibemu", "status", "--json").stdout)["joined"]
    assert [each["node"] for each in joined] == ["node-1"]
    told = []

    def has_sent():
        told.append(account.run(*host("node-2", "ib_send_bw", "-F", "-R",
                                       "node-1"),
                                check=False))
        return told[-1].returncode == 0

    until(has_sent)
    assert "BW average" in told[-1].stdout
    assert server.wait() == 0, server.output
