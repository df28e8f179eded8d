"""`ibemud --http`: the live view, in a headless Chromium; and what hostile
clients of its API get."""

import contextlib
import json
import re
import subprocess
from xml.etree import ElementTree

import pytest
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from by_address import CLIENT, LINES, PAIR, SERVER, serve
from chromium import chromium
from harness import Fabric, deep, until


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = chromium(tmp_path_factory.mktemp("chromium"), 120)
    yield driver
    driver.quit()


@contextlib.contextmanager
def fabric_with_view(account, name, topology, sm="static"):
    fabric = Fabric(account, name, topology, sm=sm,
                    options=["--http=127.0.0.1:0"])
    fabric.url = fabric.daemon.wait_for(
        r"live view: (http://127\.0\.0\.1:\d+/\?token=[0-9a-f]{32})$")[1]
    fabric.origin, fabric.token = fabric.url.split("/?token=")
    yield fabric
    fabric.stop()


@pytest.fixture(scope="module")
def tree(module_account):
    """32 hosts, 8 leaf switches, 4 spines."""
    with fabric_with_view(module_account, "tree",
                          "fat-tree:radix=8,levels=2") as fabric:
        yield fabric


class Page:
    """The view as a person has it: what is seen, clicked and typed."""

    def __init__(self, browser, url):
        self.browser = browser
        browser.get(url)

    def wait_until_ready(self):
        until(lambda: self.js("return document.body.dataset.ready === 'true'"))
        return self

    def js(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def text(self, selector):
        return self.js("return document.querySelector(arguments[0])"
                       "?.textContent ?? ''", selector)

    def count(self, selector):
        return self.js("return document.querySelectorAll(arguments[0]).length",
                       selector)

    def element(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def press(self, *keys):
        ActionChains(self.browser).send_keys(*keys).perform()

    def focused(self):
        return self.js("return document.activeElement.id")

    def click(self, text):
        """The button of this text, as soon as it is enabled; in one step, as
        the page may make a new one between two."""
        until(lambda: self.js(
            "const found = [...document.querySelectorAll('button:enabled')]"
            ".find((button) => button.textContent === arguments[0]);"
            "found?.click(); return found !== undefined", text))

    def select(self, kind, name):
        """Finds a node or link in the list and chooses it."""
        self.js("const kind = document.getElementById('kind');"
                "kind.value = arguments[0];"
                "kind.dispatchEvent(new Event('change'))", kind)
        search = self.element("#search")
        search.clear()
        search.send_keys(name, Keys.ENTER)
        until(lambda: name in self.text("#details-title"))


@pytest.fixture
def page(browser, tree):
    yield Page(browser, tree.url).wait_until_ready()
    tree.ibemu("fault", "reset")
    for end in ("node-1/1", "node-2/1"):
        tree.ibemu("link", end, "up")
    browser.get("about:blank")


def links_of(fabric):
    return json.loads(fabric.ibemu("links", "--json").stdout)


def link_at(fabric, node, port):
    return next(link for link in links_of(fabric)
                if (node, port) in ((link["a"]["node"], link["a"]["port"]),
                                    (link["b"]["node"], link["b"]["port"])))


def guid_of(fabric, node):
    nodes = json.loads(fabric.ibemu("nodes", "--json").stdout)
    return next(each["guid"] for each in nodes if each["description"] == node)


def test_each_node_and_each_link_is_drawn(page, tree):
    assert page.text("#summary") == "32 hosts, 12 switches, 64 links"
    assert page.count("[data-unit]") == 44
    assert page.count("[data-unit].host") == 32
    assert page.count("[data-line]") == len(links_of(tree)) == 64
    assert page.count("[data-line].active") == 64
    # A host stands below its switch, that below the spines.
    heights = [page.js("return Math.min(...[...document.querySelectorAll("
                       "`[data-unit].${arguments[0]}`)].map((unit) =>"
                       "unit.getBoundingClientRect().top))", kind)
               for kind in ("switch", "host")]
    assert heights[0] < heights[1]
    # All is in sight.
    assert page.js("""
        const frame = document.getElementById('drawing').getBoundingClientRect();
        return [...document.querySelectorAll('[data-unit]')].every((unit) => {
          const box = unit.getBoundingClientRect();
          return box.left >= frame.left && box.right <= frame.right &&
                 box.top >= frame.top && box.bottom <= frame.bottom;
        })""")


def test_the_token_leaves_the_address_and_survives_a_reload(page, tree):
    assert page.browser.current_url == f"{tree.origin}/"
    page.browser.refresh()
    page.wait_until_ready()
    assert page.text("#connection") == "connected"


def test_the_browser_has_no_complaint(page):
    assert [entry for entry in page.browser.get_log("browser")
            if entry["level"] in ("SEVERE", "WARNING")
            and "401" not in entry["message"]] == []


def test_a_cut_elsewhere_shows_without_a_reload(page, tree):
    page.js("window.same = true")
    tree.ibemu("link", "node-1/1", "down")
    until(lambda: page.count("[data-line].cut") == 1)
    until(lambda: "1 not active" in page.text("#summary"))
    assert "✕" in page.text("[data-line].cut .badge")
    until(lambda: re.search("link node-1/1 – .* down", page.text("#events")))
    until(lambda: "node-1/1" in page.text("#announcement"))
    tree.ibemu("link", "node-1/1", "up")
    until(lambda: page.count("[data-line].active") == 64)
    assert page.js("return window.same"), "the same page all the time"


def test_who_is_connected_shows_as_it_happens(browser, account):
    with fabric_with_view(account, "connected", PAIR, "builtin") as lab:
        page = Page(browser, lab.url).wait_until_ready()
        page.select("node", "node-1")
        until(lambda: f"port 1: {SERVER}/16" in page.text("#connections"))
        assert "Listens at" not in page.text("#connections")
        server = serve(lab, "rping", "-s", "-v")
        until(lambda: "0.0.0.0:7174 RDMA_PS_TCP, process "
              in page.text("#connections"))
        client = lab.start("node-2", *LINES, "rping", "-c", "-v", "-a", SERVER)
        client.wait_for("ping data: rdma-ping-3:")
        until(lambda: re.search(
            rf"{SERVER}:7174 – node-2 {CLIENT}:\d+ RDMA_PS_TCP, established, "
            r"process \d+", page.text("#connections")))
        ends = rf"connection node-2 {CLIENT}:\d+ → node-1 {SERVER}:7174 "
        until(lambda: re.search(f"{ends}RDMA_PS_TCP established",
                                page.text("#events")))
        client.stop()
        until(lambda: re.search(f"{ends}RDMA_PS_TCP disconnected by node-2",
                                page.text("#events")))
        server.stop()
        browser.get("about:blank")


def test_queue_pairs_show_as_they_come_and_a_click_says_why_one_failed(
        page, tree):
    """And neither is told of a node that is not a host."""
    page.select("nodes", "node-2")
    until(lambda: "Addresses" in page.text("#connections"))
    assert "Queue pairs" not in page.text("#connections")
    page.click("What failed?")
    until(lambda: page.text("#why") == "Nothing that is remembered.")
    server = tree.start("node-1", *LINES, "ibv_rc_pingpong", "-n", "1000000")
    server.wait_for("local address")
    client = tree.start("node-2", *LINES, "ibv_rc_pingpong", "-n", "1000000",
                        "localhost")
    until(lambda: re.search(
        r"Queue pairs0x[0-9a-f]+ RC, RTS – node-1 0x[0-9a-f]+, process \d+",
        page.text("#connections")))
    page.js("document.querySelector('[data-title^=\"queue pair\"]')"
            ".open = true")
    until(lambda: "path MTU1024" in page.text("[data-title^='queue pair'] dl"))
    facts = page.text("[data-title^='queue pair'] dl")
    assert re.match(r"send queue\d of 1, \d outstandingreceive queue"
                    r"\d+ of 500pathLID 1, SL 0path MTU1024accessnone", facts)
    tree.ibemu("fault", "add", "qp", "node-2/*", "loss", "dir", "tx")
    client.process.wait()

    def told():
        page.click("What failed?")
        return re.search(r"node-2 queue pair 0x[0-9a-f]+: work request .* ended "
                         r"with RETRY_EXC_ERR: .* lost by fault-1",
                         page.text("#why"))

    until(told)
    until(lambda: "Queue pairs" not in page.text("#connections"))
    server.stop()
    page.select("nodes", "leaf-1")
    assert page.count("#why") == 0


def test_health_names_what_is_cut_and_counts_errors(browser, account):
    with fabric_with_view(account, "health", "single-switch:hosts=3") as fabric:
        page = Page(browser, fabric.url).wait_until_ready()
        until(lambda: page.text("#health-sentences").startswith(
            "All links are active and clean."))
        fabric.ibemu("counter", "node-2/1", "SymbolErrorCounter=7")
        fabric.ibemu("link", "node-1/1", "down")
        # Both ends of the link have counted that it went down.
        until(lambda: page.text("#health-sentences").startswith(
            "1 link is cut, 3 ports count errors."))
        assert "node-2/1 SymbolErrorCounter 7" in page.text("#health-parts")
        page.js("document.querySelector('#health-parts button').click()")
        until(lambda: "node-2/1" in page.text("#details-title"))
        browser.get("about:blank")


@pytest.mark.deep
def test_health_lists_slow_links_and_those_with_most_load(browser, account):
    with fabric_with_view(account, "slow", "single-switch:hosts=3") as fabric:
        fabric.run("node-1", "ibportstate", "-D", "0", "1", "width", "1")
        fabric.ibemu("link", "node-1/1", "down")
        fabric.ibemu("link", "node-1/1", "up")
        server = fabric.start("node-2", *LINES, "ibv_rc_pingpong", "-n",
                              "1000000", "-s", "65536")
        server.wait_for("local address")
        client = fabric.start("node-3", *LINES, "ibv_rc_pingpong", "-n",
                              "1000000", "-s", "65536", "localhost")
        page = Page(browser, fabric.url).wait_until_ready()
        until(lambda: re.search(r"Slower than they could be.*node-1/1.* 1xHDR, "
                                r"could be 4xHDR", page.text("#health-parts")))
        assert "1 link is slower than it could be" in page.text(
            "#health-sentences")
        # Both hosts send as much as they get.
        until(lambda: re.search(
            r"Most load.*node-[23]/1[^%]* %.*node-[23]/1[^%]* %",
            page.text("#health-parts")))
        browser.get("about:blank")
        client.stop()
        server.stop()


@pytest.mark.deep
def test_a_switch_shows_how_its_uplinks_share_the_work(page):
    page.select("nodes", "leaf-1")
    until(lambda: page.count("#forwarding tbody tr") == 9)
    rows = page.js(
        "return [...document.querySelectorAll('#forwarding tbody tr')].map("
        "(row) => [...row.children].slice(0, 4).map((cell) =>"
        " cell.textContent))")
    assert rows[1] == ["1", "node-1/1", "1", "1"]
    uplinks = [row for row in rows if row[1].startswith("spine-")]
    assert [row[3] for row in uplinks] == ["7"] * 4
    assert "LID 1: port" in page.text("#forwarding details")


@pytest.mark.deep
def test_what_programs_have_made_is_listed_and_stays_unfolded(page, tree):
    server = tree.start("node-3", *LINES, "ibv_rc_pingpong", "-e")
    server.wait_for("local address")
    page.select("nodes", "node-3")
    until(lambda: "Completion queues: 1" in page.text("#connections"))
    assert "Memory regions: 1" in page.text("#connections")
    page.js("document.querySelector('[data-title=\"Memory regions\"]')"
            ".open = true")
    page.js("window.seen = document.querySelector("
            "'[data-title=\"Memory regions\"] li')")
    another = tree.start("node-3", *LINES, "ibv_rc_pingpong", "-e", "-p", 18516)
    another.wait_for("local address")
    until(lambda: "Completion queues: 2" in page.text("#connections"))
    assert page.js("return document.querySelector("
                   "'[data-title=\"Memory regions\"]').open")
    assert "4096 bytes" in page.text("[data-title='Memory regions']")
    assert page.js("return window.seen.isConnected"), "it says the same"
    for program in (another, server):
        program.stop()


@pytest.mark.deep
def test_load_over_time_is_drawn_and_saved(page, tree):
    page.select("nodes", "node-5")
    # The daemon has been there for as long as the tests before took.
    since = r"In (the last minute|\d+ minutes)"
    words = since + r" at most [1-9].* sent, [1-9].* received\."

    def is_drawn():  # what was sent before the daemon first looked is no load
        tree.run("node-5", "smpquery", "nodeinfo", "-D", "0,1")
        return re.match(words, page.text("#history p.help"))

    until(is_drawn)
    assert page.js("return document.querySelector('#history canvas')"
                   ".getAttribute('aria-label')").startswith("Load over time")
    page.js("URL.createObjectURL = (blob) => {"
            " blob.text().then((text) => window.saved = text);"
            " return 'data:,'; }")
    page.click("Save all as CSV")
    until(lambda: page.js("return window.saved"))
    lines = page.js("return window.saved").splitlines()
    assert lines[0].startswith("seconds,sent_bytes_per_second,received_bytes_")
    assert any(int(line.split(",")[1]) > 0 for line in lines[1:])
    for kind, shown in [("packets", " at most [0-9.,]*[1-9].* packets/s sent"),
                        ("errors", r" 0 errors\.")]:
        page.js("const kind = document.querySelector('#history select');"
                "kind.value = arguments[0];"
                "kind.dispatchEvent(new Event('change'))", kind)
        until(lambda shown=shown: re.match(since + shown,
                                           page.text("#history p.help")))


@pytest.mark.deep
def test_what_is_chosen_is_in_the_address_and_found_again(page, tree):
    page.select("nodes", "leaf-2")
    until(lambda: page.js("return location.hash") == "#node=leaf-2")
    page.js("location.hash = '#link=leaf-1/1'")
    until(lambda: "leaf-1/1" in page.text("#details-title"))
    page.js("location.hash = '#path=node-1,node-9'")
    until(lambda: "node-1 to node-9: 5 nodes" in page.text("#path-result"))
    page.browser.refresh()
    page.wait_until_ready()
    until(lambda: "node-1 to node-9: 5 nodes" in page.text("#path-result"))
    page.click("Clear")
    until(lambda: page.js("return location.hash") == "")
    page.js("location.hash = '#node=nobody'")
    until(lambda: "nothing here is called nobody" in page.text("#events"))


@pytest.mark.deep
def test_events_before_the_page_are_there_and_can_be_sifted(browser, tree):
    tree.ibemu("node", "node-7", "down")
    tree.ibemu("node", "node-7", "up")
    page = Page(browser, tree.url).wait_until_ready()
    until(lambda: "node node-7 up" in page.text("#events"))
    page.element("#event-filter").send_keys("node-7 DOWN")
    shown = ("return [...document.querySelectorAll('#events li')]"
             ".filter((item) => !item.hidden)"
             ".map((item) => item.textContent)")
    until(lambda: all("node-7 down" in text for text in page.js(shown)))
    assert page.js(shown)
    browser.get("about:blank")


@pytest.mark.deep
def test_what_is_found_and_drawn_can_be_saved(page, tmp_path):
    page.js("URL.createObjectURL = (blob) => {"
            " blob.text().then((text) => window.saved = text);"
            " return 'data:,'; }")
    page.element("#search").send_keys("lid 1")
    until(lambda: page.text("#matches") == "1 of 44")
    page.click("Save as CSV")
    until(lambda: page.js("return window.saved"))
    assert page.js("return window.saved").splitlines()[1].startswith("node-1,ca")
    page.js("window.saved = null")
    page.click("Save as SVG")
    until(lambda: page.js("return window.saved"))
    drawing = ElementTree.fromstring(page.js("return window.saved"))
    space = "{http://www.w3.org/2000/svg}"
    assert len(drawing.findall(f".//{space}g[@data-unit]")) == 44
    assert ".line" in drawing.find(f"{space}style").text


def colour_by(page, what):
    page.js("const colour = document.getElementById('colour');"
            "colour.value = arguments[0];"
            "colour.dispatchEvent(new Event('change'))", what)


@pytest.mark.deep
def test_lines_are_coloured_by_speed_and_by_errors(page, tree):
    colour_by(page, "speed")
    until(lambda: page.count("[data-line].speed4") == 64)
    assert "as fast as any here" in page.text("#legend")
    colour_by(page, "errors")
    tree.ibemu("counter", "node-9/1", "SymbolErrorCounter=7")
    until(lambda: "node-9/1" in page.text("#health-parts"))
    until(lambda: page.js(
        "return document.querySelector('[data-line*=\"' + arguments[0] + '\"]')"
        ".classList.contains('errors')", guid_of(tree, "node-9")))
    colour_by(page, "load")


@pytest.mark.deep
def test_lines_are_coloured_by_the_partitions_of_opensm(browser, account):
    with fabric_with_view(account, "partitions", "single-switch:hosts=4",
                          sm="none") as fabric:
        guids = [hex(int(guid_of(fabric, f"node-{n}"), 16) + 1)
                 for n in (1, 2, 3)]  # of their ports
        conf = account.home / "partitions.conf"
        conf.write_text("Default=0x7fff : ALL=full ;\n"
                        f"a=0x1 : {guids[0]}=full, {guids[1]}=limited ;\n"
                        f"b=0x2 : {guids[1]}=full, {guids[2]}=full ;\n")
        conf.chmod(0o644)
        fabric.start_opensm("node-1", "-P", conf)
        page = Page(browser, fabric.url).wait_until_ready()
        colour_by(page, "partition")
        until(lambda: "0x8001: 2 ports, 1 limited" in page.text("#legend"))
        assert "0x8002: 2 ports" in page.text("#legend")
        for n, tone in enumerate(["partition1", "partition0", "partition2",
                                  "load0"], 1):
            assert page.js(
                "return document.querySelector('[data-line*=\"' + arguments[0]"
                " + '\"]').classList.contains(arguments[1])",
                guid_of(fabric, f"node-{n}"), tone), (n, tone)
        browser.get("about:blank")


def test_a_click_in_the_drawing_cuts_and_restores_a_link(page, tree):
    # node-1's only line, where it is clicked.
    line = page.js("""
        const unit = [...document.querySelectorAll('[data-unit].host')].find(
          (unit) => unit.querySelector('title').textContent === 'node-1');
        return [...document.querySelectorAll('[data-line]')].find(
          (line) => line.dataset.line.startsWith(unit.dataset.unit))
          .querySelector('.hit')""")
    ActionChains(page.browser).move_to_element(line).click().perform()
    until(lambda: "node-1/1" in page.text("#details-title"))
    assert page.text("#link-state") == "active"
    page.click("Cut")
    until(lambda: link_at(tree, "node-1", 1)["cut"])
    until(lambda: page.text("#link-state") == "cut")
    found = tree.run("node-2", "ibnetdiscover").stdout
    assert '"node-2"' in found and '"node-1"' not in found
    page.click("Restore")
    until(lambda: link_at(tree, "node-1", 1)["state"] == "active")
    until(lambda: page.text("#link-state") == "active")


@pytest.mark.deep
def test_a_press_is_not_lost_when_the_subnet_is_read_anew(page, tree):
    def titles():
        return page.js("return [...document.querySelectorAll("
                       "'[data-unit] title')].map((title) => title.textContent)")

    def rename(name):
        tree.run("node-2", "sh", "-c",
                 f"printf {name} > /sys/class/infiniband/ibemu0/node_desc")
        for state in ("down", "up"):  # the page hears of names with links
            tree.ibemu("link", "node-2/1", state)
        until(lambda: name in titles())

    page.select("links", "node-1/1")
    ActionChains(page.browser).click_and_hold(
        page.element("[data-does=cut]")).perform()
    try:
        rename("renamed")
        ActionChains(page.browser).release().perform()
        until(lambda: link_at(tree, "node-1", 1)["cut"])
    finally:
        rename("node-2")


@pytest.mark.deep
@pytest.mark.parametrize("kind, name", [("links", "node-1/1"),
                                        ("nodes", "node-1")])
def test_what_is_told_grows_below_the_buttons(page, kind, name):
    page.select(kind, name)
    assert page.js("""
        const buttons = document.querySelector('#details-body .actions');
        return document.querySelector('#details-body dl')
          .compareDocumentPosition(buttons) & Node.DOCUMENT_POSITION_PRECEDING""")
    assert page.js("return document.querySelector('#details-body .actions')"
                   ".previousElementSibling") is None


@pytest.mark.deep
def test_a_node_is_switched_off_and_on(page, tree):
    page.select("nodes", "node-2")
    page.click("Switch off")
    until(lambda: page.count("[data-unit].off") == 1)
    assert link_at(tree, "node-2", 1)["state"] == "down"
    page.click("Switch on")
    until(lambda: page.count("[data-unit].off") == 0)


@pytest.mark.deep
def test_faults_are_injected_and_removed(page, tree):
    page.select("links", "node-1/1")
    page.element("#fault-words").send_keys("loss 5% delay 10us", Keys.ENTER)
    until(lambda: "fault-1" in page.text("#faults"))
    until(lambda: page.count("[data-line].faulty") == 1)
    listed = tree.ibemu("fault", "ls").stdout
    assert re.search(r"fault-1 +node-1/1 +both +loss 5% delay 10us", listed)
    tree.ibemu("fault", "add", "--name=elsewhere", "node", "node-2", "slow",
               "1ms")
    until(lambda: "elsewhere" in page.text("#faults"))
    page.element("[aria-label='Remove fault-1']").click()
    until(lambda: "fault-1" not in page.text("#faults"))
    assert "fault-1" not in tree.ibemu("fault", "ls").stdout
    until(lambda: page.count("[data-line].faulty") == 0)


@pytest.mark.deep
def test_what_the_daemon_refuses_is_told(page):
    page.select("links", "node-1/1")
    page.element("#fault-words").send_keys("los 5%", Keys.ENTER)
    until(lambda: "refused" in page.text("#announcement"))
    assert 'did you mean "loss"' in page.text("#events")


def test_counters_are_those_of_perfquery(page, tree):
    page.select("links", "node-1/1")
    tree.ibemu("counter", "node-1/1", "SymbolErrorCounter=77")
    until(lambda: re.search("SymbolErrorCounter\\D*77",
                            page.text("#details-body table")))


@pytest.mark.deep
def test_traffic_shows_as_load(page, tree):
    page.js("""
        const list = document.getElementById('kind');
        list.value = 'busy';
        list.dispatchEvent(new Event('change'))""")
    ping = tree.start("node-2", "sh", "-c",
                      "while :; do perfquery -x 1 1; done")
    try:
        until(lambda: "node-2/1" in page.text("#list"))
        assert "B/s" in page.text("#list")
    finally:
        ping.stop()


@pytest.mark.deep
def test_a_path_is_drawn_and_follows_the_tables(page, tree):
    page.element("#path-from").send_keys("node-1")
    page.element("#path-to").send_keys("node-32")
    page.click("Show path")
    until(lambda: page.text("#path-result") == "node-1 to node-32: 5 nodes")
    hops = page.js("return [...document.querySelectorAll('#path-hops li')]"
                   ".map((hop) => hop.textContent)")
    assert hops[0].startswith("node-1 out 1")
    assert re.search(r" in \d+ out \d+$", hops[2])
    assert hops[4].startswith("node-32 in 1")
    assert page.count("[data-line].marked") == 4
    assert page.count("[data-unit].marked") == 5
    tree.ibemu("link", "node-1/1", "down")
    until(lambda: page.text("#path-result") ==
          "Ends before node-32: port 1 of node-1 is not active")
    tree.ibemu("link", "node-1/1", "up")
    until(lambda: page.text("#path-result") == "node-1 to node-32: 5 nodes")
    page.click("Clear")
    until(lambda: page.count("[data-line].marked") == 0)


def test_all_can_be_done_by_keyboard(page, tree):
    def tab_to(wanted):
        for _ in range(60):
            if page.focused() == wanted:
                # What has the focus shows it.
                assert page.js("return getComputedStyle(document.activeElement)"
                               ".outlineStyle") != "none"
                return
            page.press(Keys.TAB)
        raise AssertionError(f"no way to {wanted}")

    page.js("document.activeElement.blur()")
    tab_to("kind")
    page.press("li")
    tab_to("search")
    page.press("node-1/")
    tab_to("list")
    assert page.text("#matches") == "1 of 64"
    page.press(Keys.ENTER)
    until(lambda: page.focused() == "details-title")
    for _ in range(10):
        if page.js("return document.activeElement.textContent") == "Cut":
            break
        page.press(Keys.TAB)
    page.press(Keys.ENTER)
    until(lambda: link_at(tree, "node-1", 1)["cut"])
    page.press(Keys.ESCAPE)
    assert page.focused() == "list"
    # The list by arrows: what is pointed at is what a screen reader says.
    page.js("document.getElementById('search').value = '';"
            "document.getElementById('search').dispatchEvent(new Event('input'))")
    page.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_UP)
    assert page.js("""
        const list = document.getElementById('list');
        return document.getElementById(
          list.getAttribute('aria-activedescendant')).ariaSelected""") == "true"
    tab_to("drawing")
    before = page.js("return document.querySelector('#drawing > g')"
                     ".getAttribute('transform')")
    page.press("+", Keys.ARROW_LEFT)
    assert page.js("return document.querySelector('#drawing > g')"
                   ".getAttribute('transform')") != before


def test_every_control_has_a_name_and_every_id_is_there_once(page):
    page.select("links", "node-1/1")
    page.element("#fault-words").send_keys("loss 1%", Keys.ENTER)
    until(lambda: "fault-1" in page.text("#faults"))
    assert page.js("""
        const ids = [...document.querySelectorAll('[id]')].map(({id}) => id);
        return ids.filter((id, i) => ids.indexOf(id) !== i)""") == []

    def unnamed():
        controls = page.browser.find_elements(
            By.CSS_SELECTOR, "button, input, select, [tabindex='0'], [role]")
        assert len(controls) > 20
        return [control.get_attribute("outerHTML")[:100]
                for control in controls
                if control.is_displayed() and not control.accessible_name
                and control.aria_role != "status"]

    def settled():
        try:
            return [unnamed()]
        except StaleElementReferenceException:  # the page went on meanwhile
            return None

    assert until(settled) == [[]]
    # What others are named or described by is there.
    assert page.js("""
        return ['aria-labelledby', 'aria-describedby', 'for', 'list',
                'aria-activedescendant'].flatMap((attribute) =>
          [...document.querySelectorAll(`[${attribute}]`)]
            .map((element) => element.getAttribute(attribute))
            .filter((id) => document.getElementById(id) === null))""") == []


@pytest.mark.parametrize("query", ["", "?token=00", "?token="])
def test_without_the_token_the_page_shows_nothing(browser, tree, query):
    browser.get(f"{tree.origin}/health")
    browser.execute_script("sessionStorage.clear()")
    page = Page(browser, f"{tree.origin}/{query}")
    until(lambda: "the token is missing or wrong" in page.text("#connection"))
    assert page.count("[data-unit]") == 0


def curl(account, url, *options, **more):
    return account.run("curl", "-sS", "-w", "\n%{http_code}", *options, url,
                       **more).stdout.rsplit("\n", 1)


def test_the_api_is_for_who_has_the_token(tree):
    request = ["-d", '{"id":1,"method":"status"}']
    shown = ["-H", f"Authorization: Bearer {tree.token}"]
    call = f"{tree.origin}/api/call"
    for options, status in (([], "401"),
                            (["-H", "Authorization: Bearer x"], "401"),
                            ([*shown, "-H", "Host: example.org"], "403"),
                            ([*shown, "-H", "Origin: http://example.org"],
                             "403"),
                            (shown, "200")):
        text, got = curl(tree.account, call, *request, *options)
        assert got == status, text
    for page in ("", "metrics", "health"):
        assert curl(tree.account, f"{tree.origin}/{page}")[1] == "200"
        assert curl(tree.account, f"{tree.origin}/{page}", "-H",
                    "Host: example.org:80")[1] == "403"


def test_systemd_is_not_told_the_token(tree):
    ready = tree.daemon.wait_for(r"ready: .*")[0]
    assert tree.token not in ready
    assert tree.origin in ready


@pytest.mark.parametrize("body, answer", [
    ("", "not JSON"),
    ("}{", "not JSON"),
    ("[" * 16000, "nests deeper than 64 levels"),
    ("[]", "a request is a JSON object"),
    ('{"id": 1, "method": "capture.start"}', "is no method for pages"),
    ('{"id": 1, "method": "nodess"}', "is no method for pages"),
    ('{"id": 1, "method": "link.set", "params": {"node": "nobody"}}',
     "nobody"),
    ('{"id": 1, "method": "link.set", "params": [1]}', "is a JSON object"),
    ('{"id": 1, "method": "path.trace", "params": {"from": "node-1"}}',
     "error"),
    ('{"id": 1, "method": "counter.get", "params": {"node": 7}}',
     "must be a string"),
    ('{"id": 1, "method": "fault.add", "params": {"words": ["link"]}}',
     "error"),
], ids=range(11))
def test_garbage_is_answered_by_one_sentence(tree, body, answer):
    text, status = curl(tree.account, f"{tree.origin}/api/call", "-H",
                        f"Authorization: Bearer {tree.token}", "-H",
                        "Content-Type: application/json", "--data-binary",
                        body)
    assert status == "200"
    assert answer in text
    assert "error" in json.loads(text)


def test_huge_requests_are_not_read(tree):
    huge = tree.account.home / "huge"
    huge.write_bytes(b" " * 50_000_000)
    shown = ["-H", f"Authorization: Bearer {tree.token}", "-H", "Expect:"]
    url = f"{tree.origin}/api/call"
    for options, answers in (([], ("413",)),
                             (["-H", "Transfer-Encoding: chunked"], ("411",))):
        done = tree.account.run(
            "curl", "-sS", "-w", "\n%{http_code}", *shown, *options,
            "--data-binary", f"@{huge}", url, check=False)
        # Or the connection ended while it was still being sent.
        assert done.stdout.rsplit("\n", 1)[1] in (*answers, "000")
    assert curl(tree.account, f"{tree.origin}/health")[1] == "200"


class Sender:
    """A program that keeps `count` connections to the web server, on each of
    which it has sent `text`.  Whoever is refused connects again."""

    SCRIPT = """
import selectors, socket, sys
port, count, text = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].encode()
waiting = selectors.DefaultSelector()

def connect():
    client = socket.create_connection(("127.0.0.1", port))
    client.sendall(text)
    waiting.register(client, selectors.EVENT_READ)

def has_ended(client):
    try:
        return not client.recv(4096)
    except OSError:
        return True

for _ in range(count):
    connect()
print("sent", flush=True)
waiting.register(sys.stdin, selectors.EVENT_READ)
while True:
    for ready, _ in waiting.select():
        if ready.fileobj is sys.stdin:
            sys.exit()
        if has_ended(ready.fileobj):
            waiting.unregister(ready.fileobj)
            ready.fileobj.close()
            connect()
"""

    def __init__(self, fabric, count, text):
        port = fabric.origin.rsplit(":", 1)[1]
        self.process = fabric.account.popen(
            ["python3", "-c", self.SCRIPT, port, count, text],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        assert self.process.stdout.readline() == "sent\n"
        return self

    def __exit__(self, *_):
        self.process.communicate()


@pytest.mark.parametrize("text", [
    "", "GET /health HTTP/1.1\r\nHost: localhost\r\nX: ",
    "POST /api/call HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"])
def test_slow_senders_hold_up_nobody(tree, text):
    with Sender(tree, 50, text):
        for page in ("health", "metrics", ""):
            assert tree.account.run("curl", "-sS",
                                    f"{tree.origin}/{page}").stdout


ENDLESS = """
import socket, sys
start = sys.argv[2].encode()
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as client:
    sent = 0
    client.settimeout(30)
    try:
        client.sendall(start)
        for _ in range(2000):
            client.sendall(b"x" * 100_000)
            sent += 1
    except OSError:
        pass
    try:
        print(client.recv(100).decode())
    except OSError:
        pass
"""


@pytest.mark.parametrize("start", ["GET /", "GET / HTTP/1.1\r\nX: "])
def test_an_endless_head_takes_no_memory(tree, start):
    def kilobytes():
        status = open(f"/proc/{daemon}/status", encoding="ascii").read()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])

    daemon = json.loads(tree.ibemu("status", "--json").stdout)["pid"]
    before = kilobytes()
    port = tree.origin.rsplit(":", 1)[1]
    tree.account.run("python3", "-c", ENDLESS, port, start)
    assert kilobytes() - before < 20_000
    assert curl(tree.account, f"{tree.origin}/health")[1] == "200"


@pytest.mark.deep
def test_readers_that_never_read_hold_up_nobody(tree):
    """As many as may be, stopped; and more, that are refused."""
    command = [*tree.account.prefix, "curl", "-sSN", "-H",
               f"Authorization: Bearer {tree.token}",
               f"{tree.origin}/api/events"]
    readers = []

    def greeted():
        reader = subprocess.Popen(command, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
        readers.append(reader)
        return reader.stdout.readline() == b"event: past\n"

    try:
        for _ in range(8):
            # A page that was left is found out a second later.
            until(greeted)
        refused, status = curl(tree.account, command[-1], *command[-3:-1])
        assert status == "503"
        assert "close one" in refused
        # Their pipes fill, then their sockets: they are let go.
        tree.ibemu("fault", "add", "link", "node-32/1", "flap", "2ms", "1ms")
        until(greeted)
        assert curl(tree.account, f"{tree.origin}/health")[1] == "200"
    finally:
        tree.ibemu("fault", "reset")
        for reader in readers:
            reader.kill()
            reader.stdout.close()
            reader.wait()


RECORD = """
window.told = [];
new MutationObserver(() => {
  const text = document.getElementById("summary")?.textContent;
  if (text) window.told.push(text);
}).observe(document, {childList: true, subtree: true, characterData: true});
"""


def assert_nothing_is_compressed(fabric):
    """Of what the page fetches, however large, for who would take it."""
    asks = ["-D", "-", "-H", "Accept-Encoding: br, gzip, deflate", "-H",
            f"Authorization: Bearer {fabric.token}"]
    for file in "", "main.js", "style.css", "icon.svg":
        text, status = curl(fabric.account, f"{fabric.origin}/{file}", *asks)
        assert status == "200"
        assert "content-encoding" not in text.lower(), text[:500]
    for method in "nodes", "links", "fault.list":
        text, status = curl(fabric.account, f"{fabric.origin}/api/call", *asks,
                            "-d", json.dumps({"id": 1, "method": method}))
        assert status == "200"
        head, body = re.split(r"\r?\n\r?\n", text, maxsplit=1)
        assert "content-encoding" not in head.lower(), head
        result = json.loads(body)["result"]
        assert method == "fault.list" or len(body) > 100_000, result
    stream = subprocess.Popen(
        [*fabric.account.prefix, "curl", "-sSN", *asks,
         f"{fabric.origin}/api/events"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        head = list(iter(stream.stdout.readline, "\n"))
        assert head[0].split()[1] == "200"
        assert "content-encoding" not in "".join(head).lower(), head
        assert stream.stdout.readline() == "event: past\n"
    finally:
        stream.kill()
        stream.communicate()


@pytest.mark.deep
def test_more_than_2000_nodes_are_folded(browser, module_account):
    with fabric_with_view(module_account, "large",
                          "fat-tree:radix=20,levels=3") as fabric:
        recorder = browser.execute_cdp_cmd(
            "Page.addScriptToEvaluateOnNewDocument", {"source": RECORD})
        page = Page(browser, fabric.url).wait_until_ready()
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument",
                                recorder)
        assert page.text("#summary") == "2000 hosts, 500 switches, 6000 links"
        # Meanwhile it told how far it was.
        told = page.js("return window.told")
        assert "loading 1,000 of 2,500 nodes" in told
        assert "loading 2,000 links" in told
        assert_nothing_is_compressed(fabric)
        drawn = page.count("[data-unit]")
        assert 10 < drawn < 200
        assert page.text("#matches") == "2500 of 2500"
        # Groups are called by their place, which stays where room is short.
        names = page.js("return [...document.querySelectorAll("
                        "'.switches > title')].map((name) => name.textContent)")
        assert {"pod-7: 10 leaves", "pod-7: 10 spines"} <= set(names), names
        # A cut within what is folded shows, and so does what is unfolded.
        fabric.ibemu("link", "node-1234/1", "down")
        until(lambda: "1 of 100" in page.text("[data-line].cut .badge"))
        page.js("document.querySelector('[data-unit].hosts')"
                ".dispatchEvent(new Event('click', {bubbles: true}))")
        page.click("Unfold")
        until(lambda: page.count("[data-unit]") > drawn + 50)
        page.click("Fold all")
        until(lambda: page.count("[data-unit]") == drawn)
        page.browser.get("about:blank")


# The names that are seen, and pairs of them of which one covers the other.
COVERED = """
const seen = [...document.querySelectorAll(".label")]
  .map((label) => [label.textContent, label.getBoundingClientRect()])
  .filter(([, box]) => box.width > 0);
const covers = (one, other) =>
  one.left < other.right && other.left < one.right &&
  one.top < other.bottom && other.top < one.bottom;
return [seen.map(([name]) => name), seen.flatMap(([name, box], i) =>
  seen.slice(i + 1).filter(([, other]) => covers(box, other))
    .map(([other]) => [name, other]))];
"""


@pytest.mark.parametrize("topology, names", [
    ("fat-tree:radix=8,levels=2", {"spine-1", "leaf-8"}),
    *deep(("fat-tree:radix=36,levels=2", {"spine-18", "leaf-36", "18 hosts"}),
          ("fat-tree:radix=36,levels=3",
           {"324 cores", "pod-36: 18 spines", "pod-1: 18 leaves", "324 hosts"}))])
def test_every_name_can_be_read(browser, module_account, topology, names):
    """Of 32, of 648, and of 11,664 hosts."""
    with fabric_with_view(module_account, "names", topology) as fabric:
        page = Page(browser, fabric.url).wait_until_ready()
        seen, covered = page.js(COVERED)
        assert names <= set(seen), seen
        assert covered == []
        page.browser.get("about:blank")


def test_648_hosts_are_folded_into_their_switches(browser, module_account):
    with fabric_with_view(module_account, "director",
                          "fat-tree:radix=36,levels=2") as fabric:
        page = Page(browser, fabric.url).wait_until_ready()
        assert page.count("[data-unit].hosts") == 36
        assert page.count("[data-unit].switch") == 54
        assert page.text("[data-unit].hosts .label") == "18 hosts"
        page.browser.get("about:blank")


@pytest.mark.deep
@pytest.mark.parametrize("topology, units", [
    ("torus:4x4x4", 128), ("back-to-back", 2), ("single-switch:hosts=19", 20)])
def test_other_shapes_are_drawn_without_two_in_one_place(
        browser, module_account, topology, units):
    with fabric_with_view(module_account, "other", topology) as fabric:
        page = Page(browser, fabric.url).wait_until_ready()
        places = page.js("return [...document.querySelectorAll('[data-unit]')]"
                         ".map((unit) => unit.getAttribute('transform'))")
        assert len(places) == len(set(places)) == units
        page.browser.get("about:blank")


@pytest.mark.deep
def test_a_picture_of_it(page, tree, tmp_path):
    tree.ibemu("link", "node-2/1", "down")
    tree.ibemu("fault", "add", "link", "node-9/1", "loss", "5%")
    page.element("#path-from").send_keys("node-3")
    page.element("#path-to").send_keys("node-30")
    page.click("Show path")
    page.select("links", "node-1/1")
    until(lambda: page.count("[data-line].marked") > 4)
    until(lambda: page.count("[data-line].faulty") == 1)
    until(lambda: "1 link is cut" in page.text("#health-sentences"))
    picture = tmp_path / "live-view.png"
    assert page.browser.save_screenshot(str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")
