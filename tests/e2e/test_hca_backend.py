"""ibemud --backend=hca: its words, and what becomes of programs when an adapter
or a daemon goes."""

import json
import re
import subprocess
from signal import SIGKILL, SIGTERM

import pytest

from accounts import make_account
from harness import HcaFabric, until

PAIR = "single-switch:hosts=2"


@pytest.fixture
def lab(scratch, programs):
    made = HcaFabric(make_account("plain", scratch, programs), "lab", PAIR,
                     sm="static")
    yield made
    made.stop()


@pytest.mark.parametrize("words, sentence", [
    ([], r"pci=DDDD:BB:DD\.F is missing"),
    (["pci=mlx4_0"], r"pci=mlx4_0"),
    (["pci=3b:00.0", "acces=sysfs"], r'did you mean "access"\?'),
    (["access=sysfs", "pci=3b:00.0"], r"after the pci= of its adapter"),
    (["pci=3b:00.0", "pci=0000:3b:00.0"], r"named twice"),
    (["model=lab"], r"it is FABRIC/NODE"),
    (["model=lab/node-1", "--sm=none"], r"--sm .* a simulated subnet"),
    (["model=lab/node-1", "--topology=back-to-back"], r"a simulated subnet"),
    (["model=lab/node-1", "--seed=1"], r"a simulated subnet"),
])
def test_words_that_make_no_sense_are_refused(account, words, sentence):
    done = account.run("ibemud", "--backend=hca", *words, check=False)
    assert done.returncode == 2, done
    assert re.search(sentence, done.stderr), done.stderr


def test_a_back_end_has_its_own_words(account):
    for words, sentence in [
            (["--backend=hcaa", "pci=3b:00.0"], '--backend=hcaa: there is "hca"'),
            (["pci=3b:00.0"], "adapters go together with --backend=hca")]:
        done = account.run("ibemud", *words, check=False)
        assert done.returncode == 2, done
        assert sentence in done.stderr


def test_an_adapter_that_cannot_be_had_ends_the_daemon(lab):
    def refusal(word):
        done = lab.account.run("ibemud", "--backend=hca", word,
                               f"--socket={lab.account.home}/other.sock",
                               check=False)
        assert done.returncode == 1, done
        return done.stderr
    assert "ffff:ff:1f.7: there is no such PCI function" in refusal(
        "pci=ffff:ff:1f.7")
    assert "no daemon listens there" in refusal("model=nobody/node-1")
    assert 'did you mean "node-1"?' in refusal(f"model={lab.socket}/node-3")
    lab.drive("node-1")
    assert re.search(r"(?m)^node-1 .* active \(remote\) ",
                     lab.ibemu("nodes").stdout)
    assert '"node-1" has an adapter elsewhere already' in refusal(
        f"model={lab.socket}/node-1")


def test_check_prints_what_the_firmware_says(lab):
    done = lab.account.run("ibemud", "--backend=hca", "--check",
                           f"model={lab.socket}/node-1")
    assert "/node-1: ConnectX-3 (15b3:1003)\n" in done.stdout
    assert re.search(r"num_ports +1 ", done.stdout)


def test_status_names_adapters_and_what_belongs_to_a_subnet_is_not_there(lab):
    driver = lab.drive("node-1", "node-2")

    def ibemu(command, *words, **options):
        return lab.account.run("ibemu", command, f"--fabric={driver.socket}",
                               *words, **options)
    status = ibemu("status").stdout
    assert re.search(
        r"adapter .*lab\.sock/node-2: node-2, 0x[0-9a-f]{16}\n"
        r" +ConnectX-3 \(15b3:1003\), board \S+, firmware 2\.42\.5000\n"
        r" +port 1: active \(linkup\), 4xHDR, LID \d+, SM LID \d+\n", status)
    told = json.loads(ibemu("status", "--json").stdout)["adapters"]
    assert [(adapter["node"], adapter["alive"], adapter["ports"][0]["state"])
            for adapter in told] == [("node-1", True, "active"),
                                     ("node-2", True, "active")]
    done = ibemu("nodes", check=False)
    assert done.returncode != 0
    assert ("this daemon drives adapters and has no simulated subnet"
            in done.stderr)
    done = ibemu("run", "--host=node-3", "--", "true", check=False)
    assert 'no adapter "node-3": did you mean "node-' in done.stderr


@pytest.mark.parametrize("number", [SIGTERM, SIGKILL])
def test_who_ends_gives_the_adapter_back(lab, number):
    """And takes it over again, whatever state it was left in."""
    for _ in range(2):
        driver = lab.drive("node-1")
        until(lambda: "State: Active" in lab.run("node-1", "ibstat").stdout)
        status = driver.stop(number)
        assert status == (0 if number == SIGTERM else -SIGKILL)
    # The node is the fabric's own again.
    until(lambda: "State: Active" in lab.account.run(
        "ibemu", "run", f"--fabric={lab.socket}", "--host=node-1", "--",
        "ibstat").stdout)


def test_a_signal_during_the_start_ends_it_cleanly(lab):
    driver = lab._start(["ibemud", "--backend=hca",
                         f"model={lab.socket}/node-1",
                         f"--socket={lab.account.home}/brief.sock"])
    # When the node is taken, the driver waits for the reset: a second.
    until(lambda: [node["remote"] for node in json.loads(
        lab.ibemu("nodes", "--json").stdout)
        if node["description"] == "node-1"] == [True])
    driver.signal(SIGTERM)
    assert driver.wait() == 0, driver.output
    lab.drive("node-1")


WATCHER = r"""
import errno, os, select
def attempt(call, *arguments):
    try:
        return call(*arguments)
    except OSError as error:
        return errno.errorcode[error.errno]
umad = os.open("/dev/infiniband/umad0", os.O_RDWR)
uverbs = os.open("/dev/infiniband/uverbs0", os.O_RDWR)
print("open", flush=True)
poll = select.poll()
poll.register(umad, select.POLLIN)
poll.poll()
print("umad", attempt(os.read, umad, 512))
print("uverbs", attempt(os.write, uverbs, bytes(8)))
print("nodes", os.listdir("/dev/infiniband"))
print("classes", os.listdir("/sys/class/infiniband"))
print("again", attempt(os.open, "/dev/infiniband/umad0", os.O_RDWR))
"""


def test_programs_see_an_adapter_go_as_on_linux(lab):
    """Its end: the daemon that has its fabric is killed."""
    watcher = lab.start("node-1", "python3", "-c", WATCHER)
    watcher.wait_for("open")
    driver = lab.drivers[("node-1",)]
    lab.daemon.stop(SIGKILL)
    assert watcher.wait() == 0, watcher.output
    assert watcher.output.splitlines()[1:] == [
        "umad EIO", "uverbs EIO", "nodes ['rdma_cm']", "classes []", "again ENOENT"]
    driver.wait_for("the daemon that has its fabric has ended")
    done = lab.run("node-1", "true", check=False)
    assert done.returncode == 125
    assert "has died: ibemud must be started again" in done.stderr
    status = lab.account.run("ibemu", "status", f"--fabric={driver.socket}").stdout
    assert re.search(r", dead\n(.*\n){1,2} +the adapter is dead: .*catastrophic",
                     status), status
    assert "port 1: down" in status
    assert driver.stop() == 0


def test_events_tell_what_happens_to_adapters(lab):
    driver = lab.drive("node-1")
    events = lab._start(["ibemu", "events", f"--fabric={driver.socket}"])
    until(lambda: lab.ibemu("link", "node-1/1", "down")
          and lab.ibemu("link", "node-1/1", "up")
          and re.search("port +node-1/1 down, LID", events.output))
    events.wait_for(r"port +node-1/1 active, LID \d+, SM LID \d+$")
    refused = lab.account.run("ibemu", "events", f"--fabric={driver.socket}",
                              "drop", check=False)
    assert (refused.returncode, refused.stderr) == (
        1, 'ibemu events: "drop" is no kind of event: there are port, sm, '
        "device, connection, datagram, group\n")
    lab.daemon.stop(SIGKILL)
    events.wait_for("device +node-1 removed: .*catastrophic")


def test_metrics_and_a_page_tell_how_adapters_do(lab):
    driver = lab.drive("node-1", options=["--http=127.0.0.1:0"])
    url = driver.wait_for(r"live view: (http://127\.0\.0\.1:\d+/)$")[1]

    def get(path):
        return lab.account.run("curl", "-sS", url + path).stdout

    def value(text, series):
        return float(re.search(rf"(?m)^{re.escape(series)}.*\}} (\S+)$", text)[1])
    name = f'adapter="{lab.socket}/node-1"'
    sent = 'ibemu_port_mads_sent_total{node="node-1"'
    before = value(get("metrics/ports"), sent)
    lab.run("node-1", "smpquery", "-D", "nodeinfo", "0,1")
    assert value(get("metrics/ports"), sent) > before
    text = get("metrics")
    assert value(text, f"ibemu_adapter_alive{{{name}") == 1
    assert value(text, f'ibemu_adapter_events_total{{{name},type="completion"') > 0
    for page in ("metrics", "metrics/ports"):
        checked = subprocess.run(["promtool", "check", "metrics"], input=get(page),
                                 text=True, capture_output=True, check=False)
        assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "<td>active</td><td>linkup</td>" in get("")
    lab.daemon.stop(SIGKILL)
    driver.wait_for("the adapter is gone")
    assert value(get("metrics"), f"ibemu_adapter_alive{{{name}") == 0
    assert "<td>dead</td>" in get("")


def test_adapters_have_no_links_to_capture(lab):
    """Their MADs can be captured: test_host_capture.py."""
    driver = lab.drive("node-1")
    for ports in [], ["node-1/1"]:
        done = lab.account.run("ibemu", "capture", f"--fabric={driver.socket}",
                               "-w", "x", *ports, check=False)
        assert (done.returncode, done.stderr) == (
            1, "ibemu capture: this daemon drives adapters and has no simulated "
            "subnet whose links could be captured: name an adapter with --host\n")


# --- ibemu run --backend=hca


def run_privately(lab, *words, **options):
    return lab.account.run("ibemu", "run", "--backend=hca", *words, **options)


def test_a_run_may_have_adapters_of_its_own(lab):
    models = [f"model={lab.socket}/{node}" for node in ("node-1", "node-2")]
    for _ in range(2):
        done = run_privately(lab, *models, "--", "ibstat")
        assert done.stdout.count("State: Active") == 2, done.stdout
        assert re.search(r"CA 'ibemu1'", done.stdout)
    # A word without "=" is the command, and it may run further ones.
    done = run_privately(lab, models[1], "sh", "-c",
                         "ibemu run ibstat -l && ibemu status && exit 7", check=False)
    assert done.returncode == 7, done
    assert re.search(r"ibemu0\nadapter .*node-2: node-2, .*\n", done.stdout)
    assert "State: Active" in lab.account.run(
        "ibemu", "run", f"--fabric={lab.socket}", "--host=node-2", "--",
        "ibstat").stdout, "the node is the fabric's own again"


@pytest.mark.parametrize("words, sentence", [
    (["--backend=hcaa", "pci=3b:00.0", "true"], 'there is "hca"'),
    (["pci=3b:00.0", "--", "true"], "adapters go together with --backend=hca"),
    (["--backend=hca", "true"], "pci=DDDD:BB:DD.F is missing"),
    (["--backend=hca", "pci=3b:00.0"], "a COMMAND is missing"),
    (["--backend=hca", "pci=3b:00.0", "acces=sysfs", "true"],
     'did you mean "access"?'),
    (["--backend=hca", "--topology=back-to-back", "pci=3b:00.0", "true"],
     "--topology, --sm and --seed make a simulated subnet"),
    (["--backend=hca", "--sm=none", "pci=3b:00.0", "true"],
     "--topology, --sm and --seed make a simulated subnet"),
    (["--backend=hca", "--fabric=lab", "pci=3b:00.0", "true"],
     "--fabric joins a running daemon"),
    (["--backend=hca", "--host=node-1", "pci=3b:00.0", "true"],
     "--host chooses among the nodes of a daemon"),
    (["--backend=hca", "pci=3b:00.0", "--profile=qib", "--", "true"],
     "--profile=qib: options come before the adapters"),
    (["--backend=hca", "pci=ffff:ff:1f.7", "--", "true"],
     "ffff:ff:1f.7: there is no such PCI function"),
    (["--backend=hca", "model=nobody/node-1", "--", "true"],
     "no daemon listens there"),
])
def test_a_run_says_which_words_make_no_sense(account, words, sentence):
    done = account.run("ibemu", "run", *words, check=False)
    assert done.returncode == 125, done
    assert sentence in done.stderr
    assert done.stderr.startswith("ibemu run: ")
    assert done.stderr.count("\n") == 1, done.stderr
