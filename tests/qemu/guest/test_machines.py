"""The units of machines that share a subnet; here one machine is both."""

import json
import pathlib
import shutil

import pytest

from harness import until
from service import Service, leftovers

ETC = pathlib.Path("/etc/ibemu")
LISTEN = "ibemu-listen@lab"
EXAMPLE = pathlib.Path(__file__).parents[3] / "packaging/examples/join.conf"
DROP_IN = pathlib.Path("/run/systemd/system/ibemud.service.d/join.conf")


@pytest.fixture
def head(service):
    """A named fabric that other machines may join."""
    service.run("ibemu", "certs", ETC / "authority", "localhost,127.0.0.1", "pc7")
    (ETC / "certs").symlink_to("authority/localhost")
    (ETC / "lab.conf").write_text('IBEMUD_OPTIONS="--topology=single-switch:hosts=4"\n')
    service.systemctl("start", "ibemud@lab", LISTEN)
    listener = Service(service.root, LISTEN)
    until(lambda: "listening at" in listener.journal())
    yield
    service.systemctl("stop", LISTEN, "ibemud@lab.socket", "ibemud@lab")
    shutil.rmtree(ETC / "authority")
    for name in "certs", "lab.conf":
        (ETC / name).unlink()


@pytest.fixture
def with_a_network(service):
    DROP_IN.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(EXAMPLE, DROP_IN)
    service.systemctl("daemon-reload")
    yield
    DROP_IN.unlink()
    service.systemctl("daemon-reload")


JOIN = f"--join=127.0.0.1:7471 --host=node-1 --certs={ETC}/authority/pc7"


def test_a_machine_has_a_host_of_another_machines_subnet(service, head,
                                                         with_a_network):
    service.start(JOIN)
    until(lambda: "State: Active" in service.run("ibstat").stdout)
    status = json.loads(service.run("ibemu", "status", "--fabric=lab",
                                    "--json").stdout)
    assert [host["node"] for host in status["joined"]] == ["node-1"]
    service.stop()
    assert leftovers() == []


def test_a_unit_without_the_drop_in_reaches_no_other_machine(service, head):
    service.change("Restart=no")
    assert service.start(JOIN, check=False).returncode != 0
    assert "Address family not supported" in service.journal()


def test_who_listens_goes_on_with_the_next_daemon(service, head):
    def process():
        return service.systemctl("show", "--value", "--property=MainPID",
                                 LISTEN).stdout.strip()

    first = process()
    service.systemctl("restart", "ibemud@lab")
    until(lambda: process() not in (first, "0"))
    until(lambda: service.run(
        "ibemu", "run", "--join=127.0.0.1:7471", "--host=node-2",
        f"--certs={ETC}/authority/pc7", "--", "ibstat", "-l",
        check=False).returncode == 0)
