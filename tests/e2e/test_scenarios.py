"""ibemu scenario: files of what is to happen, and when."""

import json
import signal

from harness import until


def write(account, text, name="lab.yaml"):
    path = account.home / name
    path.write_text(text)
    path.chmod(0o644)
    return name


def test_steps_are_done_in_time_and_printed(fabric, account):
    lab = fabric("single-switch:hosts=2", sm="static")
    file = write(account, """\
- {at: 10ms, do: link node-1/1 down}
- at: 20ms
  do:
    - link node-1/1 up
    - fault add --name=x link node-1/1 loss 1%
""")
    done = lab.ibemu("scenario", file)
    assert done.stdout.split("\n") == [
        "     0.010  link node-1/1 down",
        "     0.020  link node-1/1 up",
        "     0.020  fault add --name=x link node-1/1 loss 1%", ""]
    faults = lab.faults()
    assert [fault["name"] for fault in faults] == ["x"]


def test_all_mistakes_of_a_file_come_at_once_and_nothing_is_done(fabric,
                                                                 account):
    lab = fabric("single-switch:hosts=2,ports=8", sm="static")
    file = write(account, """\
- {at: 0s, do: link node-1/1 down}
- {at: soon, do: link node-1/1 up}
- {at: 1s, do: link switch-1/9 down}
- {at: 1s, do: fault add link node-11/1 los 5%}
- {at: 1s, do: node node-11 down}
""")
    done = lab.ibemu("scenario", file, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == """\
ibemu scenario: lab.yaml:2: at "soon": write a time, as in 2s or 500ms
lab.yaml:3: port 9 of "switch-1" does not exist: it has ports 1 to 8
lab.yaml:4: "los" is no fault: did you mean "loss"?
lab.yaml:5: no node "node-11": did you mean "node-1"?
"""
    links = json.loads(lab.ibemu("links", "--json").stdout)
    assert not any(link["cut"] for link in links)


def test_a_check_needs_no_daemon(account):
    good = write(account, "- {at: 1s, do: node nobody down}\n", "good.yaml")
    done = account.run("ibemu", "scenario", "--check", good)
    assert done.stdout == "good.yaml: no faults: 1 commands\n"
    bad = write(account, "- {at: 1s, do: nod nobody down}\n", "bad.yaml")
    done = account.run("ibemu", "scenario", "--check", bad, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        'ibemu scenario: bad.yaml:1: "nod" is no command of a scenario, which '
        'has link, node, device, counter and fault: did you mean "node"?\n')
    done = account.run("ibemu", "scenario", "none.yaml", check=False)
    assert done.stderr == "ibemu scenario: none.yaml: no such file\n"


def test_who_ends_it_ends_what_is_to_come(fabric, account, background):
    lab = fabric("single-switch:hosts=2", sm="static")
    file = write(account, """\
- {at: 0s, every: 20ms, do: link node-1/1 down --for=5ms}
- {at: 1h, do: link node-2/1 down}
""")
    program = background("ibemu", "scenario", f"--fabric={lab.socket}", file)
    until(lambda: program.output.count("down") >= 3)
    second = lab.ibemu("scenario", file, check=False)
    assert second.stderr == ("ibemu scenario: the fabric plays a scenario "
                             "already: end that one first\n")
    program.stop(signal.SIGKILL)
    until(lambda: not any(link["cut"] for link in json.loads(
        lab.ibemu("links", "--json").stdout)))
    short = write(account, "- {at: 1ms, do: fault reset}\n", "short.yaml")
    until(lambda: lab.ibemu("scenario", short, check=False).returncode == 0)


def test_a_step_that_fails_ends_it_with_its_line(fabric, account):
    lab = fabric("single-switch:hosts=2", sm="static")
    file = write(account, """\
- {at: 1ms, do: device node-2 remove}
- {at: 2ms, do: device node-2 remove}
- {at: 3ms, do: link node-1/1 down}
""")
    done = lab.ibemu("scenario", file, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        'ibemu scenario: lab.yaml:2: the device of "node-2" is removed already\n')
    links = json.loads(lab.ibemu("links", "--json").stdout)
    assert not any(link["cut"] for link in links)


def test_opensm_hears_of_a_link_that_a_scenario_cuts(fabric, account, events):
    lab = fabric("single-switch:hosts=3", sm="none")
    told = events(lab)
    opensm = lab.start_opensm("node-1", "-s", "0")  # sweeps when told alone
    mark = opensm.mark()
    lab.ibemu("scenario", write(account,
                                "- {at: 50ms, do: link node-3/1 down}\n"))
    told.wait_for(r"scenario    lab.yaml:1 step: link node-3/1 down")
    told.wait_for(r"link        (node-3/1 - switch-1/3|switch-1/3 - node-3/1) "
                  "down")
    told.wait_for(r"trap        128 of switch-1/0 to LID \d+$")
    opensm.wait_for("Received Generic Notice type:1 num:128|trap 128|num:128",
                    since=mark)
    opensm.wait_for("SUBNET UP|Removed port", since=mark)


def test_lost_traps_leave_a_manager_in_the_dark_until_it_sweeps(fabric, account,
                                                                events):
    lab = fabric("single-switch:hosts=3", sm="none")
    told = events(lab, "trap", "drop")
    opensm = lab.start_opensm("node-1", "-s", "3")
    mark = opensm.mark()
    lab.ibemu("scenario", write(account, """\
- {at: 0s, do: fault add --name=deaf link node-1/1 loss 100% attr Notice}
- {at: 10ms, do: link node-3/1 down}
"""))
    told.wait_for("trap        128 of switch-1/0")
    told.wait_for("drop        switch-1/1 loss, deaf, SM Notice")
    # It finds out by itself.
    opensm.wait_for("Removed port|SUBNET UP|removed", since=mark)
    assert "num:128" not in "".join(opensm.lines[mark:])
