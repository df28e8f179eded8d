"""The units: what a start, a stop and a command do."""

import pathlib

from harness import until
from service import leftovers


def test_a_started_service_has_its_devices(cable):
    # No waiting: "systemctl start" returns when they exist.
    assert cable.run("ibstat", "-l").stdout.split() == ["ibemu0", "ibemu1"]
    assert cable.show("ActiveState") == "active"
    assert cable.show("StatusText") != ""


def test_a_stopped_service_leaves_nothing(cable):
    assert leftovers() != []
    cable.systemctl("stop", "ibemud")
    assert leftovers() == []
    assert cable.show("Result") == "success"


def test_a_client_does_not_keep_a_stopped_service_alive(cable):
    client = cable.background("cat", "/dev/infiniband/umad0")
    call = pathlib.Path(f"/proc/{client.process.pid}/syscall")
    until(lambda: call.read_text().startswith("0 "))
    cable.systemctl("stop", "ibemud")
    assert client.wait() != 0
    assert leftovers() == []


def test_a_command_starts_the_service_through_its_socket(cable):
    cable.systemctl("stop", "ibemud")
    cable.systemctl("start", "ibemud.socket")
    assert cable.show("ActiveState") == "inactive"
    assert "node-1" in cable.run("ibemu", "status").stdout
    until(lambda: cable.show("ActiveState") == "active")


def test_bad_options_are_told_in_the_journal(service):
    assert service.start("--topology=/nowhere.net", check=False).returncode != 0
    assert "/nowhere.net" in service.journal()
    service.stop()
    assert leftovers() == []


def test_hosts_come_and_go(cable):
    cable.run("ibemu", "host", "node-2", "remove")
    assert cable.run("ibstat", "-l").stdout.split() == ["ibemu0"]
    assert not pathlib.Path("/dev/infiniband/umad1").exists()
    cable.run("ibemu", "host", "node-2", "add")
    assert cable.run("ibstat", "-l").stdout.split() == ["ibemu0", "ibemu1"]
    assert pathlib.Path("/dev/infiniband/umad1").exists()


def test_a_named_fabric_gives_devices_to_programs_and_none_to_the_machine(
        service):
    lab = pathlib.Path("/etc/ibemu/lab.net")
    lab.write_text(service.run("ibemu", "topology", "generate",
                               "back-to-back").stdout)
    try:
        service.systemctl("start", "ibemud@lab.socket")
        told = service.run("ibemu", "run", "--fabric=lab", "--host=node-2", "--",
                           "ibstat", "-l")
        assert told.stdout.split() == ["ibemu0"]
        assert service.systemctl("is-active", "ibemud@lab").stdout == "active\n"
        assert leftovers() == []
    finally:
        service.systemctl("stop", "ibemud@lab.socket", "ibemud@lab.service")
        lab.unlink()
