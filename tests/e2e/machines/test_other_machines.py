"""A fabric that other machines join over TCP: who may, who has what, and what
happens to those who are no peers."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import ssl

import pytest

from harness import Background, ListeningFabric, RunFabric, until
from pairs import exchange
from peer import serving

SIZE = 4


@pytest.fixture(scope="module")
def lab(module_account):
    made = ListeningFabric(module_account, "listening",
                           f"single-switch:hosts={SIZE}", sm="static")
    yield made
    made.stop()


def run(lab, *arguments, machine="pc7", check=True):
    return lab.account.run("ibemu", "run", *lab.joining(machine), *arguments,
                           check=check)


def joined(lab):
    return json.loads(lab.ibemu("status", "--json").stdout)["joined"]


def test_the_head_tells_which_machine_has_which_host(lab):
    assert joined(lab) == []
    program = Background(lab.account, ["ibemu", "run", *lab.taking("node-2"),
                                       "--", "sleep", "1000"])
    until(lambda: joined(lab) and joined(lab)[0]["round_trip_seconds"]
          and joined(lab)[0]["packet_connection"])
    [host] = joined(lab)
    assert 0 < host.pop("round_trip_seconds") < 10
    assert 0 <= host.pop("behind_seconds") < 10  # an echo may be under way
    assert host == {"node": "node-2", "peer": "pc7 (127.0.0.1)", "leases": 0,
                    "packet_connection": True}
    text = lab.ibemu("status").stdout
    assert re.search(r"^JOINED HOST +BY +ROUND TRIP +BEHIND +LEASES +PACKETS\n"
                     r"node-2 +pc7 \(127.0.0.1\) +[\d.]+[mu]?s +(-|[\d.]+[mu]?s) +0 +"
                     r"by a connection$", text, re.MULTILINE)
    program.stop()
    until(lambda: joined(lab) == [])


def test_any_host_is_one_that_nobody_has_until_there_is_none(lab):
    programs = [Background(lab.account, [
        "ibemu", "run", *lab.taking("any"), "--", "sleep", "1000"])
        for _ in range(SIZE)]
    until(lambda: {host["node"] for host in joined(lab)} == {
        f"node-{number}" for number in range(1, SIZE + 1)})
    refused = run(lab, "--host=any", "--", "true", check=False)
    assert (f'--host=any: no host of "localhost:{lab.port}" is free'
            in refused.stderr)
    for program in programs:
        program.stop()
    until(lambda: joined(lab) == [])
    # A host that a program of the head is on is not free either.
    own = Background(lab.account, [*RunFabric.on(lab, "node-1"), "sh", "-c",
                                   "echo is there; exec sleep 1000"])
    own.wait_for("is there")
    assert "node-2" in run(lab, "--host=any", "--", "sh", "-c",
                           "cat /sys/class/infiniband/*/node_desc").stdout
    own.stop()


@pytest.mark.deep
def test_what_reaches_other_machines_is_made_again_when_it_dies(lab):
    hosts = ["node-1", "node-2"]
    first, second = [lab.drive(host) for host in hosts]
    for daemon, told in [(lab.daemon, [first, second]), (first, [first])]:
        marks = [driver.mark() for driver in told]
        os.kill(serving(daemon), signal.SIGKILL)
        daemon.wait_for("ibemu-peers: killed by SIGKILL: it is started again")
        for driver, mark in zip(told, marks):
            driver.wait_for("a daemon has its fabric again", since=mark)
        exchange(lab, "node-1", lab.on("node-2"), "ibv_rc_pingpong")
    for host, driver in zip(hosts, (first, second)):
        driver.stop()
        del lab.drivers[(host,)]
    until(lambda: joined(lab) == [])


def certificates(lab, name, folder="other.certs"):
    """Those of another authority."""
    made = lab.account.home / folder
    lab.account.run("ibemu", "certs", made, name)
    return made / name


def refusal(lab, certs, host="node-1"):
    done = lab.account.run("ibemu", "run", f"--join=localhost:{lab.port}",
                           f"--certs={certs}", f"--host={host}", "--", "true",
                           check=False)
    assert done.returncode == 125
    return done.stderr


def test_who_has_no_certificate_of_the_authority_is_refused(lab):
    other = certificates(lab, "pc7")
    assert "certificate verify failed" in refusal(lab, other)
    # It trusts the head, and the head does not trust it.
    shutil.copy(lab.certificates / "pc7" / "ca.crt", other / "stranger.crt")
    context = ssl.create_default_context(cafile=other / "stranger.crt")
    context.set_alpn_protocols(["h2"])
    context.load_cert_chain(other / "tls.crt", other / "tls.key")
    # With TLS 1.3 it hears of that when the head has its certificate.
    with (contextlib.suppress(ssl.SSLError),
          socket.create_connection(("localhost", lab.port)) as plain,
          context.wrap_socket(plain, server_hostname="localhost") as tls):
        assert tls.recv(1) == b""
    lab.daemon.wait_for("a peer is refused: .*certificate verify failed")


def test_a_head_of_another_name_is_not_believed(lab):
    lab.account.run("ibemu", "certs", lab.certificates, "elsewhere")
    listen = Background(lab.account, [
        "ibemu", "listen", f"--fabric={lab.socket}",
        f"--certs={lab.certificates}/elsewhere", "127.0.0.1:0"])
    listen.wait_for(r"listening at 127.0.0.1:\d+")
    port = listen.output.split("127.0.0.1:")[1].split()[0]
    done = lab.account.run(
        "ibemu", "run", f"--join=localhost:{port}",
        f"--certs={lab.certificates}/pc7", "--host=node-1", "--", "true",
        check=False)
    assert ('who answers there has no certificate of that name: "localhost"'
            in done.stderr)
    listen.stop()


@pytest.mark.deep
def test_certificates_are_replaced_while_hosts_are_joined(account):
    with contextlib.ExitStack() as until_the_end:
        lab = ListeningFabric(account, "renewed", "single-switch:hosts=2",
                              sm="static")
        until_the_end.callback(lab.stop)
        joined_before = lab.drive("node-1")
        others = certificates(lab, "head,localhost,127.0.0.1", "renewed.new")
        new, own = others.parent / "head", lab.certificates / "head"
        own.rename(lab.certificates / "old")
        new.rename(own)
        lab.account.run("ibemu", "certs", others.parent, "pc8")
        until(lambda: lab.account.run(
            "ibemu", "run", f"--join=localhost:{lab.port}",
            f"--certs={others.parent}/pc8", "--host=node-2", "--", "ibstat",
            check=False).returncode == 0)
        assert "certificate verify failed" in refusal(
            lab, lab.certificates / "pc7", host="node-2")
        assert "the ports are down" not in joined_before.output
        assert lab.run("node-1", "ibstat").stdout.count("State: Active") == 1


@pytest.mark.parametrize(("spoilt", "rule"), [
    (lambda folder: (folder / "ca.crt").unlink(),
     'ca.crt: No such file or directory: "ibemu certs" makes certificates'),
    (lambda folder: (folder / "tls.crt").write_text("nonsense"),
     "tls.crt: it holds no certificate (PEM)"),
    (lambda folder: (folder / "tls.key").write_text("nonsense"),
     "tls.key: it holds no private key (PEM) without a password"),
    (lambda folder: shutil.copy(folder / "../head/tls.key", folder / "tls.key"),
     "tls.key: it is not the key of the certificate beside it"),
    (lambda folder: shutil.copy(folder / "../../spoilt.certs/pc8/ca.crt",
                                folder / "ca.crt"),
     "tls.crt: unable to get local issuer certificate"),
    (lambda folder: (folder / "tls.key").chmod(0),
     "tls.key: Permission denied"),
], ids=["no authority", "no certificate", "no key", "another's key",
        "another's authority", "a key that can't be read"])
def test_certificates_that_do_not_fit_are_told_before_anything_is_sent(
        lab, spoilt, rule):
    if not (lab.account.home / "spoilt.certs").exists():
        certificates(lab, "pc8", "spoilt.certs")
    folder = lab.certificates / "spoilt"
    lab.account.run("cp", "-r", lab.certificates / "pc7", folder)
    spoilt(folder)
    assert rule in refusal(lab, folder)
    lab.account.run("rm", "-r", folder)


def test_a_name_is_that_of_a_fabric_here_before_it_is_a_machines(account,
                                                                 background):
    name = f"head-{os.getpid()}"
    joining = ["ibemu", "run", f"--join={name}", "--", "hostname"]
    daemon = background("ibemud", "single-switch:hosts=2", f"--name={name}")
    daemon.wait_for(r"\bready\b")
    assert account.run(*joining).stdout == "node-1\n"
    daemon.stop()
    done = account.run(*joining, check=False)
    assert done.returncode == 125
    assert re.fullmatch(
        f'ibemu run: "{name}" is no fabric here \\(.*/{name}.sock: no daemon '
        r'listens there: .*\), nor can a machine of that name be joined: .*ca\.crt: '
        r'.*"ibemu certs" makes certificates\n', done.stderr), done.stderr


def test_garbage_ends_its_own_connection_alone(lab):
    for garbage in (b"", b"\n" * 100000, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                    bytes(range(256)) * 300, b"\x16\x03\x01\xff\xff" + b"x" * 70000):
        with socket.create_connection(("localhost", lab.port)) as peer:
            peer.settimeout(60)
            try:
                peer.sendall(garbage)
                peer.shutdown(socket.SHUT_WR)
                while peer.recv(65536):
                    pass
            except TimeoutError:
                raise
            except OSError:  # it may hang up at any time
                pass
    assert "ibemu0" in run(lab, "--host=node-1", "--", "ibstat", "-l").stdout


def test_an_address_that_somebody_has_is_refused_at_the_start(lab):
    done = lab.account.run(
        "ibemud", "--topology=back-to-back", f"--listen=127.0.0.1:{lab.port}",
        f"--certs={lab.certificates}/head",
        f"--socket={lab.account.home}/second.sock", check=False)
    assert done.returncode == 1
    assert (f"127.0.0.1:{lab.port}: can't listen there: the port may be taken"
            in done.stderr)
