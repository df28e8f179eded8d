"""What holds for every command: options are obeyed or refused, and what can't be
printed is an error."""

import re


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
