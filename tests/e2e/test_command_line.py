"""What holds for every command: options are obeyed or refused, and what can't be
printed is an error."""

import re
import subprocess

import pytest

# Commands that print, with arguments; {file} is a topology, {scenario} a
# scenario.
PRINT = {
    "status": [[], ["--json"]],
    "nodes": [[], ["--json"]],
    "links": [[], ["--json"]],
    "counter": [["node-1/1"], ["node-1/1", "--json"]],
    "fault": [["ls"], ["ls", "--json"],
              ["add", "link", "node-1/1", "loss", "1%"]],
    "scenario": [["--check", "{scenario}"], ["{scenario}"]],
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
NO_FABRIC = {"record", "topology", "doctor", "help"}
# What these print is a program's, an adapter's or nothing.
SILENT = {"run", "link", "node", "device", "host", "hca-probe"}
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


def to_full_disk(account, *arguments, **options):
    with open("/dev/full", "w", encoding="ascii") as full:
        process = account.popen(arguments, stdout=full, stderr=subprocess.PIPE,
                                text=True, **options)
        return process.communicate(timeout=60)[1], process.returncode


def test_the_list_above_is_whole(account):
    assert {*PRINT, *SILENT} == set(commands(account))


def test_an_option_before_its_command_is_refused(account):
    tried = 0
    for command in commands(account):
        if command == "help":
            continue
        for option in options(help_of(account, command)):
            name, _, value = option.partition("=")
            for words in {(option,), (name, value) if value else (name,)}:
                done = account.run("ibemu", *words, command, "x", check=False)
                assert done.returncode == 2, (words, command)
                assert "stands before the command" in done.stderr or (
                    "there is no option" in done.stderr), done.stderr
                assert name in done.stderr
                tried += 1
    assert tried > 20


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
    for file in (net, scenario):
        file.chmod(0o644)
    for arguments in PRINT[command]:
        words = ["ibemu", command]
        if command not in NO_FABRIC:
            words.append(f"--fabric={made.socket}")
        words += [word.format(file=net, scenario=scenario)
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
