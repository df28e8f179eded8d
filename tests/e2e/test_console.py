"""ibemu console: what a script for ibsim does here, and what it does there."""

import re

import pytest

NET = "/usr/share/doc/ibsim-utils/net-examples/net.2sw2path4hca"

SCRIPT = """# recable, renumber, and look
Start
Verbose 0
Unlink "Hca1"
Link "Hca1"[2] "Switch1"[1]
unlink "Switch1"[5]
Unlink "Hca4"
RELINK "Hca4"[1]
Clear "Hca3"[1]
Baselid "Hca2"[1] 9 1
Guid "Hca2" 0x1234
Guid "Hca2"[1] 0x1235
PerformanceSet "Hca2"[1] PortCounters.SymbolErrorCounter=5
!%s
Dump
Quit
"""
MORE = 'Unlink "Switch2"[1]\nReLink "Switch2"\n'


def dumped(text):
    """{(node, port): (guid, peer and its port, LID)} and the nodes' heads."""
    heads, ports, node = {}, {}, None
    for line in text.splitlines():
        if head := re.match(r'(Switch|Ca) (\d+) "(.*)"\tnodeguid (\w+)', line):
            node = head[3]
            heads[node] = head.groups()
        elif port := re.match(r'(\w+)\t\[(\d+)\]\t(?:"(.*)"\[(\d+)\])?', line):
            lid = re.search(r" lid (\d+) lmc (\d+)", line)
            ports[node, port[2]] = (port[3], port[4], lid and lid.groups())
    return heads, ports


def test_a_script_does_what_it_does_with_ibsim(account, fabric, tmp_path):
    more = account.home / "more"
    more.write_text(MORE)
    script = SCRIPT % more
    theirs = account.run("ibsim", "-s", NET, input=script)
    subnet = fabric(NET)
    ours = subnet.ibemu("console", input=script)
    heads, ports = dumped(ours.stdout)
    their_heads, their_ports = dumped(theirs.stdout)
    assert len(their_ports) == 2 * 9 + 4 * 2, "all ports were read"
    assert ports == their_ports
    assert heads["Hca2"] == their_heads["Hca2"] == ("Ca", "2", "Hca2", "1234")
    line = "Hca2[1] PortCounters.SymbolErrorCounter has been set to 5"
    assert line in ours.stdout and line in theirs.stdout


def test_tools_see_what_the_console_did(fabric):
    subnet = fabric("single-switch:hosts=3", sm="static")
    done = subnet.ibemu("console", input=(
        'Unlink "node-3"[1]\nLink "node-3"[1] "switch-1"[3]\n'
        'PerformanceSet "node-2"[1] PortCounters.LinkDownedCounter=7\n'
        'Guid "node-2"[1] 0xabcd\nRoute 1 3\nAttached\n'))
    assert re.search(r'From node "(.*)" port 1 lid 1\n\[1\] -> ".*"\[1\]\n'
                     r'\[3\] -> "(.*)"\[1\]\nTo node "\2" port 1 lid 3\n',
                     done.stdout)
    assert "LinkDownedCounter:...............7\n" in subnet.run(
        "node-1", "perfquery", "2", "1").stdout
    assert "0x000000000000abcd" in subnet.run("node-2", "ibstat", "-p").stdout
    assert subnet.run("node-1", "smpquery", "nodeinfo", "3").returncode == 0


def test_error_loses_the_attribute_that_is_named(fabric):
    subnet = fabric("single-switch:hosts=3", sm="static")
    subnet.ibemu("console", input='Error "node-3"[1] 100 17\n')
    query = ["smpquery", "-t", "50"]
    assert subnet.run("node-1", *query, "portinfo", "3").returncode == 0
    done = subnet.run("node-1", *query, "nodeinfo", "3", check=False)
    assert done.returncode != 0
    subnet.ibemu("console", input='Error "node-3"[1] 0\n')
    assert subnet.run("node-1", *query, "nodeinfo", "3").returncode == 0
    assert "nodeinfo" not in subnet.ibemu("fault", "ls").stdout.lower()


def test_mistakes_are_told_and_the_next_line_goes_on(fabric):
    subnet = fabric("single-switch:hosts=3", sm="static")
    done = subnet.ibemu("console", check=False, input=(
        'Unlnik "switch-1"[1]\nUnlink switch-1\nUnlink "switch-1"[9]\nUnlink "switch-2"[1]\n'
        'Link "switch-1"[1] "switch-1"[2]\nRoute 1 77\nX 3\nWait soon\n!nowhere\n'
        'Unlink "switch-1"[2]\n'))
    assert done.returncode == 1
    rules = ["'Unlnik' unknown - skipped: did you mean \"Unlink\"?",
             'write Unlink "NODE"[PORT]', "it has ports 1 to 3",
             'no node "switch-2": did you mean "switch-1"?', "is connected already",
             "no port has LID 77", "kill(1)", "from 1 to 86400",
             "nowhere: No such file or directory"]
    lines = done.stdout.splitlines()
    assert len(lines) == len(rules), done.stdout
    for line, rule in zip(lines, rules):
        assert line.startswith("# ") and rule in line
    assert "9 of the commands could not be carried out" in done.stderr
    assert subnet.run("node-2", "ibstat").stdout.count("State: Down") == 1


def test_help_lists_every_command_of_ibsim(account, fabric):
    theirs = account.run("ibsim", "-s", NET, input="Help\nQuit\n").stdout
    commands = set(re.findall(r"^\t([A-Z]\w*)", theirs, re.MULTILINE))
    assert len(commands) >= 16
    ours = fabric("single-switch:hosts=2").ibemu("console", input="?\n").stdout
    assert commands <= set(re.findall(r"^  (\w+)", ours, re.MULTILINE))


def test_help_names_no_option_and_no_command_that_is_not_there(account, fabric):
    lab = fabric("single-switch:hosts=2")
    told = (lab.ibemu("console", input="Help\n").stdout +
            account.run("ibemu", "console", "--help").stdout)
    programs = "".join(account.run(program, "--help").stdout
                       for program in ("ibemu", "ibemud")) + (
        account.run("ibemu", "console", "--help").stdout)
    for option in re.findall(r"--[a-z][a-z-]+", told):
        assert re.search(rf"^  {option}\b", programs, re.MULTILINE), option
    named = set(re.findall(r"\bibemu ([a-z]+)", told))
    assert {"console", "events"} <= named
    for command in named:
        assert re.search(rf"^  {command}  ", programs, re.MULTILINE), command
    done = lab.ibemu("console", "--log-level=debug", input="Quit\n",
                     check=False)
    assert done.returncode == 2
    assert 'there is no option "--log-level"' in done.stderr


@pytest.mark.parametrize("text", ["", "# only a comment\n\n   \n", "Quit"])
def test_nothing_to_do_is_no_mistake(fabric, text):
    subnet = fabric("single-switch:hosts=2")
    assert subnet.ibemu("console", input=text).stdout == ""
