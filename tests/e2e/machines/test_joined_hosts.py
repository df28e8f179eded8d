"""Hosts of one fabric whose adapters and programs are in other daemons."""

import json
import re
import signal

import pytest

import netdiscover
from harness import (Background, JoinedFabric, ListeningFabric, RunFabric,
                     two_rails, until)
from pairs import (connect_by_name, counts, exchange, leases, numbered,
                   start_numbered, state)

TOPOLOGY = "fat-tree:radix=4,levels=2"
PING = ["ibv_rc_pingpong", "-n", "100", "-s", "100000"]


@pytest.fixture(scope="module", params=[
    ListeningFabric, pytest.param(JoinedFabric, marks=pytest.mark.deep)],
    ids=["tcp", "socket"])
def made_by(request):
    """What makes a fabric that daemons join in one way or the other."""
    return request.param


@pytest.fixture(scope="module")
def lab(module_account, made_by):
    """node-1 and node-2 have a daemon each; node-3 is the fabric's own."""
    made = made_by(module_account, "joined", TOPOLOGY, sm="none")
    for host in ("node-1", "node-2"):
        made.drive(host)
    made.start_opensm("node-1")
    yield made
    made.stop()


def own(lab, host):
    """The command that runs a program on a host of the fabric's own daemon."""
    return RunFabric.on(lab, host)


def is_active(lab, host, elsewhere):
    """Whether its port is, and its adapter is in another daemon or not, as the
    daemon that has the fabric tells it."""
    node = next(node for node in json.loads(lab.ibemu("nodes", "--json").stdout)
                if node["description"] == host)
    return (node["remote"], node["ports"][0]["state"]) == (elsewhere, "active")


def test_all_see_one_subnet(lab):
    wanted = netdiscover.parse(
        lab.ibemu("export", "--format=ibnetdiscover").stdout)
    assert len(wanted[0]) > 8
    for command in (lab.on("node-1"), lab.on("node-2"), own(lab, "node-3")):
        seen = lab.account.run(*command, "ibnetdiscover").stdout
        assert netdiscover.parse(seen) == wanted
    assert "node-2" in lab.run("node-2", "saquery", "NR").stdout


def test_messages_arrive_whoever_has_the_other_adapter(lab):
    assert "20000000 bytes" in exchange(lab, "node-1", lab.on("node-2"), *PING)
    assert "20000000 bytes" in exchange(lab, "node-1", own(lab, "node-3"), *PING)


def lease_counts(lab):
    return [leases(lab, host) for host in ("node-1", "node-2")]


def words_received(lab, host):
    """By its port, as the subnet's agents have counted them, of 4 bytes."""
    text = lab.account.run(*own(lab, "node-3"), "perfquery", "-x", "-G",
                           lab.run(host, "ibstat", "-p").stdout.strip()).stdout
    return int(re.search(r"PortRcvData:\.*(\d+)", text)[1])


def test_data_goes_from_daemon_to_daemon_and_is_counted_on_its_way(lab):
    exchange(lab, "node-1", lab.on("node-2"), *PING)
    until(lambda: lease_counts(lab) == [1, 1])
    before = words_received(lab, "node-1")
    exchange(lab, "node-1", lab.on("node-2"), *PING)
    assert lease_counts(lab) == [1, 1]
    until(lambda: words_received(lab, "node-1") - before > 100 * 100000 / 4)


def duplicated(account, made_by, seed):
    """How many of 200 datagrams are sent twice, by a fault of queue pairs, which is
    in the host's own daemon, and how many of all these by one of its link, which
    is the subnet's."""
    made = made_by(account, f"seed-{seed}", "single-switch:hosts=2", sm="static",
                   options=["--exact", f"--seed={seed}"])
    driver = made.drive("node-2")
    until(lambda: state(made, "node-2") == "ACTIVE")

    def fault(socket, *words):
        return account.run("ibemu", "fault", words[0], f"--fabric={socket}",
                           *words[1:]).stdout

    def counted(socket):
        [fault_there] = json.loads(fault(socket, "ls", "--json"))
        return fault_there["tx"]

    twice = ["duplicate", "30%", "dir", "tx"]
    fault(made.socket, "add", "link", "node-2/1", *twice)
    fault(driver.socket, "add", "qp", "node-2/*", *twice)
    exchange(made, "node-1", made.on("node-2"), "ib_send_bw", "-F", "-c", "UD",
             "-n", "200", "-s", "100")
    by_queue_pair = counted(driver.socket)
    assert by_queue_pair["packets"] == 200
    until(lambda: counted(made.socket)["packets"] ==
          200 + by_queue_pair["duplicated"])
    by_link = counted(made.socket)
    made.stop()
    return by_queue_pair["duplicated"], by_link["duplicated"]


@pytest.mark.deep
def test_the_same_seed_of_the_subnet_gives_the_same_faults_on_all_machines(
        module_account, made_by):
    first, again, other = (duplicated(module_account, made_by, seed)
                           for seed in (7, 7, 8))
    assert min(first) > 0
    assert first == again
    assert first[0] != other[0] and first[1] != other[1]


def test_data_goes_through_a_fault_that_was_added(lab):
    exchange(lab, "node-1", lab.on("node-2"), *PING)
    until(lambda: lease_counts(lab) == [1, 1])
    lab.ibemu("fault", "add", "--name=bad-cable", "link", "node-1/1", "duplicate",
              "100%", "dir", "rx")
    until(lambda: lease_counts(lab) == [1, 0])
    exchange(lab, "node-1", lab.on("node-2"), *PING)
    [fault] = lab.faults()
    # A message of 100,000 bytes has 25 packets of 4096 bytes.
    assert fault["rx"]["duplicated"] >= 100 * 25
    lab.ibemu("fault", "rm", "bad-cable")


def test_a_daemon_has_several_hosts(lab):
    lab.drive("node-6", "node-7")
    for host in ("node-6", "node-7"):
        until(lambda host=host: is_active(lab, host, elsewhere=True))
    assert "20000000 bytes" in exchange(lab, "node-6", lab.on("node-7"), *PING)


def test_programs_connect_by_the_name_of_a_host(lab):
    connect_by_name(lab, "node-1", lab.on("node-2"), count=10)


def test_counters_of_a_port_are_the_subnets(lab):
    """Whoever asks gets the same answer."""
    def sent(command):
        text = lab.account.run(*command, "perfquery", "-x", "-G",
                               guid).stdout
        return int(re.search(r"PortXmitData:\.*(\d+)", text)[1])

    guid = lab.run("node-2", "ibstat", "-p").stdout.strip()
    before = sent(own(lab, "node-3"))
    between = sent(lab.on("node-2"))
    assert before < between < sent(own(lab, "node-3"))


def test_a_host_whose_daemon_was_killed_is_one_whose_link_goes_down(lab):
    driver = lab.drive("node-4")
    until(lambda: is_active(lab, "node-4", elsewhere=True))
    driver.process.kill()
    # It is the fabric's own then, as after power-on.
    until(lambda: is_active(lab, "node-4", elsewhere=False))
    driver.stop(signal.SIGKILL)


def port(lab, host):
    node = next(node for node in json.loads(lab.ibemu("nodes", "--json").stdout)
                if node["description"] == host)
    return node["ports"][0]


def test_the_subnet_manager_and_peers_are_told_of_a_host_that_was_killed(
        module_account, made_by, scratch):
    """opensm sweeps for traps alone here: by those it hears that the link went,
    and that the host came back."""
    lab = made_by(module_account, "killed", "single-switch:hosts=3", sm="none")
    opensm = lab.start_opensm("node-3", "--sweep", "0")
    killed = lab.drive("node-1")
    until(lambda: is_active(lab, "node-1", elsewhere=True))
    lid = port(lab, "node-1")["lid"]
    ends = start_numbered(lab, numbered(scratch), "node-1", "node-2", count=0,
                          ack_timeout=16)
    mark = opensm.mark()
    assert ends[1].process.poll() is None
    killed.stop(signal.SIGKILL)
    counted = counts(ends[1])
    assert counted["failure"] == "transport retry counter exceeded"
    assert counted["sends_failed"] > 0
    opensm.wait_for("num:128 .*Link state change", since=mark)
    until(lambda: is_active(lab, "node-1", elsewhere=False))
    mark = opensm.mark()
    lab.drive("node-1")
    opensm.wait_for("num:128 .*Link state change", since=mark)
    until(lambda: is_active(lab, "node-1", elsewhere=True))
    assert port(lab, "node-1")["lid"] == lid
    connect_by_name(lab, "node-1", lab.on("node-2"), count=10)
    lab.stop()


def test_a_run_takes_a_host_over_for_itself(lab):
    done = lab.account.run("ibemu", "run", *lab.taking("node-5"), "--", "sh", "-c",
                           "until sminfo 2> /dev/null; do :; done")
    assert "SMINFO_MASTER" in done.stdout
    text = lab.account.run(*own(lab, "node-5"), "ibstat", "-l").stdout
    assert text == "ibemu0\n"


def refusal(lab, *arguments):
    done = lab.account.run("ibemud", *lab.joining(),
                           f"--socket={lab.account.home}/none.sock", *arguments,
                           check=False)
    assert done.returncode == 1
    return done.stderr


def test_a_host_that_can_not_be_taken_over_is_named(lab):
    assert "did you mean" in refusal(lab, "--host=node-99")
    assert refusal(lab, "--host=node-1") == (
        '"node-1" has an adapter elsewhere already\n')
    assert "has hosts of" in lab.account.run(
        "ibemu", "nodes", f"--fabric={lab.drivers[('node-1',)].socket}",
        check=False).stderr


@pytest.mark.parametrize("called", ["itself", "./itself.sock", "link/itself.sock"])
def test_a_daemon_does_not_join_itself(account, called):
    """By its name, or whatever path."""
    (account.home / "link").symlink_to(".")
    own = f"{account.home}/itself.sock" if "/" in called else called
    done = account.run("ibemud", f"--join={called}", "--host=node-1",
                       f"--socket={own}", check=False)
    assert done.returncode == 1
    assert re.fullmatch(
        rf'"{called}" is the fabric that would join \(/\S+/itself.sock\): name the '
        "one that has the subnet, and call this one otherwise; HOST:PORT is always "
        "another machine\n", done.stderr), done


def test_a_switch_of_ethernet_spans_them(lab):
    def on(command):
        return [*command[:-1], "--net=ether:blue", "--"]

    server = Background(lab.account, [*on(own(lab, "node-3")), "sh", "-c",
                                      "echo is there; exec sleep 1000"])
    server.wait_for("is there")
    said = lab.account.run(*on(lab.on("node-1")), "ping", "-c", "1", "-W", "60",
                           "node-3.blue").stdout
    assert " 1 received" in said
    server.stop()


def test_a_host_is_down_while_the_daemon_of_its_fabric_is_gone(module_account,
                                                               made_by):
    topology = "single-switch:hosts=2"
    lab = made_by(module_account, "gone", topology, sm="static")
    driver = lab.drive("node-1")
    until(lambda: state(lab, "node-1") == "ACTIVE")
    lab.daemon.stop(signal.SIGKILL)
    until(lambda: state(lab, "node-1") == "DOWN")
    assert lab.run("node-1", "sminfo", "1", check=False).returncode != 0
    driver.wait_for(f"can't join again yet: .*{lab.nobody}")
    # That has no such host: its node-1 is another one.
    other = lab.again(two_rails(module_account))
    driver.wait_for("can't join again yet: .*0x.*")
    assert state(lab, "node-1") == "DOWN"
    other.stop()
    again = lab.again(topology, sm="static")
    until(lambda: state(lab, "node-1") == "ACTIVE")
    driver.stop()
    again.stop()
    lab.stop()


@pytest.mark.deep
def test_a_daemon_that_hangs_is_gone_for_all_its_hosts(module_account, made_by):
    lab = made_by(module_account, "hung", "single-switch:hosts=3", sm="static")
    driver = lab.drive("node-1", "node-2")
    lab.drivers = {(host,): driver for host in ("node-1", "node-2")}
    for host in ("node-1", "node-2"):
        until(lambda host=host: state(lab, host) == "ACTIVE")
    lab.daemon.signal(signal.SIGSTOP)
    assert lab.run("node-1", "sminfo", "-D", "0", check=False).returncode != 0
    assert state(lab, "node-2") == "DOWN"
    driver.wait_for("node-2: the ports are down")
    lab.daemon.signal(signal.SIGCONT)
    for host in ("node-1", "node-2"):
        until(lambda host=host: state(lab, host) == "ACTIVE")
    lab.stop()
