"""Mistakes get one clear answer: place, thing, rule; and nothing is started."""

import re
import shutil

import pytest

pytestmark = pytest.mark.both_accounts

BROKEN = """\
switchguid=0x100(100)
Switch 8 "sw1" # "sw1"
[9] "H-1"[1]
[1] "H-9"[1]
[2] "H-2"[1]
[2] "H-1"[1]

caguid=0x10
Ca 1 "H-1" # "node-1"
[1] "sw1"[1]

caguid=0x10
Ca 1 "H-2" # "node-2"
[1] "sw1"[2]

Wombat 3 "x"
"""


def test_all_faults_of_a_topology_are_told_in_one_run(account):
    net = account.home / "lab.net"
    net.write_text(BROKEN)
    net.chmod(0o644)
    for command in (["ibemud", f"--topology={net}"],
                    ["ibemu", "topology", "check", net],
                    ["ibemu", "run", f"--topology={net}", "--", "touch", "ran"]):
        done = account.run(*command, check=False)
        assert done.returncode in (1, 125), done
        text = done.stderr
        assert re.search(r'lab\.net:3: port 9 of "sw1" does not exist: '
                         r"it has ports 1 to 8", text), text
        assert re.search(r'lab\.net:4: .*"H-9"', text)
        assert re.search(r"lab\.net:6: port 2 .*", text)
        assert re.search(r"lab\.net:1[123]: .*(GUID|guid)", text)
        assert re.search(r'lab\.net:16: .*"Wombat"', text)
    assert not (account.home / "ran").exists()


@pytest.mark.parametrize("command, hint", [
    (["ibemud", "--topolgy=back-to-back"], "--topology"),
    (["ibemu", "rnu", "--", "true"], "run"),
    (["ibemu", "run", "--hots=node-1", "--", "true"], "--host"),
    (["ibemu", "run", "--host=node-11", "--", "true"], "node-1"),
    (["ibemu", "run", "--topology=fat-tee:radix=8,levels=2", "--", "true"],
     "fat-tree"),
    (["ibemu", "run", "--topology=fat-tree:radx=8,levels=2", "--", "true"],
     "radix"),
    (["ibemu", "run", "--sm=statc", "--", "true"], "static"),
    (["ibemu", "run", "--profile=hfi", "--", "true"], "hfi1"),
    (["ibemud", "--front-end=cuse", "--profile=qbi", "back-to-back"], "qib"),
])
def test_a_typing_error_is_answered_with_what_was_meant(account, command, hint):
    done = account.run(*command, check=False)
    assert done.returncode != 0
    assert re.search(rf"did you mean .*{hint}", done.stderr), done.stderr


@pytest.mark.parametrize("command, complaint", [
    (["link", "node-1/1", "down", "status"], "one argument too many"),
    (["fault", "add", "link", "node-1/1", "loss", "1%", "ls"], '"ls"'),
    (["links", "nodes"], "one argument too many"),
])
def test_a_second_command_on_a_line_is_refused(fabric, command, complaint):
    made = fabric("back-to-back")
    done = made.ibemu(*command, check=False)
    assert done.returncode != 0
    assert complaint in done.stderr
    assert made.ibemu("fault", "ls", "--json").stdout == "[]\n"


SAY = """
import socket, sys
with socket.socket(socket.AF_UNIX) as control:
    control.connect(sys.argv[1])
    answers = control.makefile("r")
    answers.readline()  # the greeting
    control.sendall(sys.stdin.buffer.read())
    print(answers.readline())
"""


def test_a_line_of_nested_json_does_not_end_the_daemon(fabric, account):
    made = fabric("back-to-back")
    for brackets in ("[" * 60_000 + "]" * 60_000,
                     '{"a":' * 30_000 + "1" + "}" * 30_000):
        line = ('{"id":1,"method":"status","params":{"a":' + brackets + "}}\n")
        done = account.run("python3", "-c", SAY, made.socket, input=line)
        assert "nests deeper than 64 levels" in done.stdout
    assert made.daemon.process.poll() is None
    made.ibemu("status")


@pytest.mark.parametrize("name, text", [
    ("deep.yaml", "a: " + "[" * 60_000 + "]" * 60_000),
    ("deep.yaml", "".join("- " * 2_000) + "1"),
    ("deep.dot", "graph g " + "{" * 60_000 + "}" * 60_000),
])
def test_a_nested_file_is_refused(account, name, text):
    file = account.home / name
    file.write_text(text)
    file.chmod(0o644)
    for command in (["ibemu", "topology", "check", file],
                    ["ibemu", "scenario", "--check", file],
                    ["ibemu", "up", "--check", file]):
        done = account.run(*command, check=False, timeout=60)
        assert done.returncode == 1, done
        assert f"{name}:" in done.stderr


def test_an_unknown_fabric_names_those_that_run(fabric, account):
    done = account.run("ibemu", "status", "--fabric=nowhere", check=False)
    assert done.returncode != 0
    assert "nowhere" in done.stderr


def test_more_than_32_hosts_are_too_many(account):
    hosts = [f"--host=node-{i}" for i in range(1, 34)]
    done = account.run("ibemu", "run", "--topology=single-switch:hosts=34",
                       *hosts, "--", "true", check=False)
    assert done.returncode != 0
    assert "32" in done.stderr


def test_a_descriptor_that_is_not_open_is_no_launcher(account):
    done = account.run("ibemud", "back-to-back", "--private=99", check=False)
    assert done.returncode == 2
    assert "--private=99: no open socket" in done.stderr


def test_a_program_that_was_copied_alone_says_what_it_lacks(account):
    alone = account.home / "ibemu"
    shutil.copy(account.programs / "ibemu", alone)
    alone.chmod(0o755)
    assert account.run(alone, "--version").stdout.startswith("ibemu ")
    done = account.run(alone, "run", "--", "true", check=False)
    if done.returncode == 0:
        pytest.skip("an ibemud is installed")
    assert done.returncode == 125
    assert re.fullmatch(r"ibemu run: /\S*/ibemud: No such file or directory\n",
                        done.stderr)


@pytest.mark.parametrize("options, complaint", [
    (["--sm", ""], '--sm=: there are "none", "static" and "builtin"'),
    (["--topology", ""], "which subnet is missing"),
    (["--addresses", ""], "--addresses=: this is neither a file"),
    (["--join=nowhere", "--host", ""], "nowhere"),
])
def test_an_option_without_text_takes_no_other(account, options, complaint):
    done = account.run("ibemu", "run", *options, "--", "true", check=False)
    assert done.returncode == 125
    assert complaint in done.stderr
    assert done.stderr.startswith("ibemu run: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_second_daemon_of_the_same_name_is_refused(account, background):
    first = background("ibemud", "--topology=back-to-back", "--name=twin")
    first.wait_for(r"\bready\b")
    done = account.run("ibemud", "--topology=back-to-back", "--name=twin",
                       check=False)
    assert done.returncode == 1
    assert "twin" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert account.run("ibemu", "status", "--fabric=twin").returncode == 0
