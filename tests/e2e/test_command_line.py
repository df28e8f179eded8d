"""What holds for every command: options are obeyed or refused, and what can't be
printed is an error."""

import json
import os
import re
import signal
import subprocess

import pytest

# Commands that print, with arguments; {file} is a topology, {scenario} a
# scenario, {lab} a lab.
PRINT = {
    "ls": [[], ["--json"]],
    "status": [[], ["--json"]],
    "nodes": [[], ["--json"]],
    "links": [[], ["--json"]],
    "health": [[], ["--json"]],
    "counter": [["node-1/1"], ["node-1/1", "--json"]],
    "fault": [["ls"], ["ls", "--json"],
              ["add", "link", "node-1/1", "loss", "1%"]],
    "qp": [["ls"], ["ls", "--json"]],
    "cq": [["ls"], ["ls", "--json"]],
    "mr": [["ls"], ["ls", "--json"]],
    "srq": [["ls"], ["ls", "--json"]],
    "mcast": [["ls"], ["ls", "--json"]],
    "why": [["node-1"], ["node-1", "--json"]],
    "scenario": [["--check", "{scenario}"], ["{scenario}"]],
    "up": [["--check", "{lab}"], ["{lab}"]],
    "console": [[]],
    "capture": [["-w", "-", "--for=1ms"]],
    "events": [[]],
    "export": [[], ["--format=yaml"]],
    "record": [["--ibnetdiscover={file}"]],
    "topology": [["generate", "fat-tree:radix=8,levels=2"], ["check", "{file}"],
                 ["show", "{file}"]],
    "doctor": [[], ["--json"]],
    "help": [[]],
}
NO_FABRIC = {"ls", "up", "record", "topology", "doctor", "help"}
# What these print is a program's, an adapter's or nothing.
SILENT = {"run", "ssh", "stop", "listen", "certs", "device-plugin",
          "down", "link", "node",
          "device", "host", "hca-probe"}
FULL = "cannot write to standard output: No space left on device\n"


def commands(account):
    listed = account.run("ibemu", "help").stdout
    return re.findall(r"^  ([a-z-]+)  ", listed, re.MULTILINE) + ["help"]


def help_of(account, *command):
    return account.run("ibemu", *command, "--help").stdout


def options(text):
    """Each option of a help text, with a value if it takes one."""
    found = re.findall(r"(?:^  |\[|, )(--?[a-z][a-z-]*)(=?)", text,
                       re.MULTILINE)
    return sorted({name + ("=1" if takes_value else "")
                   for name, takes_value in found})


def knows(account, option, *command):
    """Whether that command takes the option.  Of several that it does not, the
    first is told; nothing is done."""
    done = account.run(*command, option, "--never-heard-of", check=False)
    assert done.returncode == 2, (command, done.stderr)
    told = re.search(r'there is no option "(.*?)"', done.stderr)
    return told is None or told[1] == "--never-heard-of"


def to_full_disk(account, *arguments, **options):
    with open("/dev/full", "w", encoding="ascii") as full:
        process = account.popen(arguments, stdout=full, stderr=subprocess.PIPE,
                                text=True, **options)
        return process.communicate(timeout=60)[1], process.returncode


def test_the_list_above_is_whole(account):
    assert {*PRINT, *SILENT} == set(commands(account))


def test_each_option_that_a_help_text_names_is_there(account):
    """That of the command, or of one of the words that may follow it."""
    tried = 0
    for command in [*commands(account), None]:
        words = ["ibemu", command] if command else ["ibemud"]
        text = account.run(*words, "--help").stdout
        followers = re.findall(rf"(?:Usage:|or: ) +ibemu {command} ([a-z]+)\b",
                               text)
        takers = [words, *[[*words, word] for word in followers]]
        for option in options(text):
            if option.startswith("--") and option != "--version":
                assert any(knows(account, option, *taker)
                           for taker in takers), (words, option)
                tried += 1
        assert "--log-level" not in text
        assert not any(knows(account, "--log-level=debug", *taker)
                       for taker in takers)
    assert tried > 60


def test_an_option_before_its_command_is_refused(account):
    tried = set()  # once, whatever commands have the option
    for command in commands(account):
        if command == "help":
            continue
        for option in options(help_of(account, command)):
            name, _, value = option.partition("=")
            for words in {(option,), (name, value) if value else (name,)} - tried:
                done = account.run("ibemu", *words, command, "x", check=False)
                assert done.returncode == 2, (words, command)
                assert "stands before the command" in done.stderr or (
                    "there is no option" in done.stderr), done.stderr
                assert name in done.stderr
                tried.add(words)
    assert len(tried) > 20


def test_an_option_before_a_second_word_is_refused(account):
    for words in (["fault", "--name=x", "add", "link", "node-1/1", "loss", "1%"],
                  ["fault", "--json", "ls"],
                  ["topology", "--fabric=x", "generate", "back-to-back"]):
        done = account.run("ibemu", *words, check=False)
        assert done.returncode == 2, words
        assert words[1].split("=")[0] in done.stderr


def test_an_option_before_the_command_reaches_no_other_fabric(account,
                                                              background):
    daemon = background("ibemud", "--topology=back-to-back", "--name=default")
    daemon.wait_for(r"\bready\b")
    before = account.run("ibemu", "links").stdout
    done = account.run("ibemu", "--fabric=lab", "link", "node-1/1", "down",
                       check=False)
    assert done.returncode == 2
    assert done.stderr == (
        'ibemu link: "--fabric=lab" stands before the command, where it has no '
        'effect: write "ibemu link --fabric=lab" (see "ibemu link --help")\n')
    assert account.run("ibemu", "links").stdout == before


@pytest.mark.parametrize("command", PRINT)
def test_a_full_disk_is_an_error(fabric, account, command):
    made = fabric("back-to-back")
    net = account.home / "lab.net"
    net.write_text(account.run("ibemu", "topology", "generate",
                               "back-to-back").stdout)
    scenario = account.home / "lab.yaml"
    scenario.write_text("steps:\n- at: 0s\n  do: link node-1/1 down\n")
    lab = account.home / "full-disk.yaml"
    lab.write_text("hosts: {node-1: echo a}")
    for file in (net, scenario, lab):
        file.chmod(0o644)
    for arguments in PRINT[command]:
        words = ["ibemu", command]
        if command not in NO_FABRIC:
            words.append(f"--fabric={made.socket}")
        words += [word.format(file=net, scenario=scenario, lab=lab)
                  for word in arguments]
        extra = {}
        if command == "console":
            commands_file = account.home / "commands"
            commands_file.write_text("Dump\n")
            extra["stdin"] = commands_file.open()
        if command == "events":
            made.ibemu("link", "node-1/1", "down")
            extra["stdin"] = subprocess.DEVNULL
            words = ["sh", "-c",
                     f"ibemu events --fabric={made.socket} & p=$!; "
                     "while kill -0 $p 2>/dev/null; do "
                     f"ibemu link --fabric={made.socket} node-1/1 up; "
                     f"ibemu link --fabric={made.socket} node-1/1 down; "
                     "done; wait $p"]
        text, status = to_full_disk(account, *words, **extra)
        assert status == 1, (words, text)
        assert FULL in text, (words, text)


def test_help_for_a_full_disk_is_an_error(account):
    for program, words in [
            ("ibemu", ["--version"]), ("ibemu", ["--help"]),
            ("ibemud", ["--version"]), ("ibemud", ["--help"]),
            *[("ibemu", [command, "--help"]) for command in commands(account)]]:
        text, status = to_full_disk(account, program, *words)
        assert (text, status) == (f"{program}: {FULL}", 1), words


def test_a_reader_that_has_enough_ends_the_program_quietly(account):
    script = ("trap '{}' PIPE; ibemu topology generate "
              "fat-tree:radix=36,levels=2; echo $? >&2")
    for trap in ("-", ""):
        done = account.run(
            "bash", "-c", f"({script.format(trap)}) | head -n1")
        assert done.stdout.count("\n") == 1
        assert done.stderr == "141\n", trap


def test_a_reader_that_never_was_does_not_matter(account):
    """A program that prints nothing needs no standard output."""
    done = account.run("sh", "-c", "ibemu run -- true >&-")
    assert done.stderr == ""


def test_help_and_version_have_short_forms(account):
    assert account.run("ibemu", "-h").stdout == help_of(account)
    assert account.run("ibemud", "-h").stdout == (
        account.run("ibemud", "--help").stdout)
    for program in ("ibemu", "ibemud"):
        assert account.run(program, "-v").stdout == (
            account.run(program, "--version").stdout)
    for command in commands(account):
        told = help_of(account, command)
        assert account.run("ibemu", command, "-h").stdout == told
        assert account.run("ibemu", "help", command).stdout == told
    done = account.run("ibemu", "help", "statsu", check=False)
    assert done.returncode == 2
    assert 'did you mean "status"?' in done.stderr


@pytest.mark.parametrize("words, rule", [
    (["--topology=back-to-back", "--journal", ""], "--journal= has no name of a file"),
    (["--topology=back-to-back", "--check", "--journal=x"],
     "--check starts nothing that a journal could go on with"),
    (["--join=lab", "--host=any", "--journal=x"],
     "are for the daemon that has the subnet"),
    (["--backend=hca", "pci=0000:3b:00.0", "--journal=x"],
     "are of a simulated subnet"),
])
def test_a_journal_is_of_a_daemon_that_has_a_subnet(account, words, rule):
    done = account.run("ibemud", *words, check=False)
    assert done.returncode == 2
    assert rule in done.stderr


@pytest.mark.parametrize("option", ["--topology=back-to-back", "--sm=none",
                                    "--seed=7", "--addresses=10.0.0.0/8"])
@pytest.mark.parametrize("program, command, status", [
    (["ibemud"], [], 2), (["ibemu", "run"], ["--", "true"], 125)],
    ids=["ibemud", "run"])
def test_who_joins_does_not_say_what_the_subnet_is(account, program, command, status,
                                                   option):
    done = account.run(*program, "--join=lab", "--host=any", option, *command,
                       check=False)
    assert done.returncode == status
    assert "--join takes hosts of another daemon's subnet" in done.stderr


@pytest.mark.parametrize("words, hint", [
    (["topology", "genrate", "x"], 'did you mean "generate"?'),
    (["topology", "draw", "x"], "there are generate, from, check, show"),
    (["topology"], "there are generate, from, check, show"),
    (["fault", "list"], "there are add, ls, rm, reset"),
    (["fault", "rest"], 'did you mean "reset"?'),
])
def test_a_second_word_is_corrected_too(account, words, hint):
    done = account.run("ibemu", *words, check=False)
    assert done.returncode == 2
    assert hint in done.stderr


def test_counters_are_corrected(fabric):
    made = fabric("back-to-back")
    for name, hint in (("SymbolErorCounter", 'did you mean "SymbolErrorCounter"'),
                       ("PortXmit", "did you mean PortXmitDiscards, "),
                       ("nonsense", "there are SymbolErrorCounter, ")):
        done = made.ibemu("counter", "node-1/1", f"{name}=1", check=False)
        assert done.returncode == 1
        assert hint in done.stderr, done.stderr


def test_a_fabric_is_listed_and_stopped(account, background):
    first = background("ibemud", "back-to-back", "--name=one")
    second = background("ibemud", "torus:2x2", "--name=two")
    for daemon in (first, second):
        daemon.wait_for(r"\bready\b")

    def listed():
        fabrics = json.loads(account.run("ibemu", "ls", "--json").stdout)
        return {fabric["fabric"]: fabric for fabric in fabrics}

    assert {"one", "two"} <= set(listed())
    assert listed()["two"]["content"] == "torus:2x2"
    table = account.run("ibemu", "ls").stdout
    assert re.search(r"^two +\d+ +0  torus:2x2$", table, re.MULTILINE), table
    first.signal(signal.SIGSTOP)
    table = account.run("ibemu", "ls").stdout
    assert re.search(r"^one +- +-  does not answer$", table, re.MULTILINE), table
    assert "two" in table
    first.signal(signal.SIGCONT)
    account.run("ibemu", "stop", "one")
    assert "one" not in listed()
    assert first.wait() == 0
    account.run("ibemu", "stop", "--fabric=two")
    assert second.wait() == 0
    done = account.run("ibemu", "stop", "two", check=False)
    assert done.returncode == 1
    assert "no daemon listens there" in done.stderr


def test_events_end_after_the_time_that_was_asked_for(fabric):
    made = fabric("back-to-back")
    assert made.ibemu("events", "--for=10ms").stdout == ""
    done = made.ibemu("events", "--for=soon", check=False)
    assert done.returncode == 1
    assert "--for=soon: write a time such as 10s" in done.stderr


def test_a_tree_that_is_too_small_names_the_cure(account):
    done = account.run("ibemu", "topology", "generate", "fat-tree:hosts=700",
                       check=False)
    assert done.returncode == 1
    assert ("hosts=700 is not a number from 1 to 648: make radix larger, or "
            "levels=3 for up to 11664") in done.stderr
    account.run("ibemu", "topology", "generate", "fat-tree:hosts=700,levels=3")


# Runs "$@" where /run is empty but for what the first word makes there.
OWN_RUN = ["unshare", "-m", "sh", "-c",
           'mount -t tmpfs run /run && eval "$1" && shift && exec "$@"', "sh"]


@pytest.mark.both_accounts
def test_hints_about_directories_of_others_can_be_followed(account):
    def run(make, *words, **changes):
        done = subprocess.run(
            [*OWN_RUN, make, *account.prefix, *words], cwd=account.home,
            env={**account.environment, **changes}, capture_output=True,
            text=True, timeout=60, check=False)
        return done.returncode, done.stderr

    if os.geteuid() != 0:
        pytest.skip("/run of one's own needs root")
    if account.name == "root":
        others = "mkdir -m 700 /run/ibemu && chown 1:1 /run/ibemu"
        status, text = run(others, "timeout", "20", "ibemud", "back-to-back")
        assert status == 1
        assert ('belongs to user 1: remove it, or choose another place with '
                '"ibemud --socket=PATH" and --fabric=PATH') in text
        socket = account.home / "other.sock"
        script = (f"ibemud back-to-back --socket={socket} & until ibemu status "
                  f"--fabric={socket}; do :; done; ibemu stop {socket}")
        assert run(others, "sh", "-c", script)[0] == 0
    else:
        (account.home / "run/ibemu").write_text("in the way")
        status, text = run(":", "ibemu", "run", "--", "true")
        assert status == 125
        assert "let XDG_RUNTIME_DIR name a directory of yours" in text
        status, text = run(":", "ibemu", "run", "--", "true",
                           XDG_RUNTIME_DIR=str(account.home))
        assert (status, text) == (0, "")
        (account.home / "run/ibemu").unlink()
        status, text = run(
            "mkdir -m 711 /run/ibemu && touch /run/ibemu/default.sock",
            "ibemu", "status")
        assert status == 1
        assert "/run/ibemu/default.sock is root's, so ask as root" in text
