"""How long the live view takes to be complete: all that its page fetches, and
the page itself in a headless Chromium."""

import json
import re
import statistics
import time
import urllib.parse
import urllib.request

from selenium.webdriver.support.ui import WebDriverWait

from bench_lab import LONGEST, RUNS, TOPOLOGIES, Ibemu, figure, head
from chromium import chromium

# Wanted of the largest: seconds.
WANTED = {11664: 2}
# As a browser asks.
ENCODINGS = {"Accept-Encoding": "gzip, deflate, br"}


class Client:
    """Fetches what the page does, one after the other, as the page does."""

    def __init__(self, url):
        self.origin, token = url.split("?token=")
        self.headers = {**ENCODINGS, "Authorization": f"Bearer {token}"}
        self.bytes = 0

    def fetch(self, path, body=None):
        request = urllib.request.Request(
            urllib.parse.urljoin(self.origin, path), body, self.headers)
        with urllib.request.urlopen(request, timeout=LONGEST) as answer:
            data = answer.read()
            if "Content-Encoding" in answer.headers:
                raise SystemExit(f"{path}: {answer.headers}")
        self.bytes += len(data)
        return data

    def files(self):
        """The page, and each file that a file of it names."""
        left, seen = [""], set()
        while left:
            path = left.pop()
            if path in seen:
                continue
            seen.add(path)
            left += re.findall(
                r'(?:href=|src=|from |import )"(?:\./)?([\w-]+\.\w+)"',
                self.fetch(path).decode())
        return seen

    def call(self, method, **params):
        answer = json.loads(self.fetch("api/call", json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": method,
             "params": params}).encode()))
        return answer["result"]

    def all(self, method):
        """callAll() of page/api.js."""
        got, start = [], 0
        while start is not None:
            page = self.call(method, **{"from": start})
            got += page[method]
            end = "total" in page and len(got) >= page["total"]
            start = page.get("next", None if end else len(got))
        return got


def seconds(act):
    began = time.monotonic()
    act()
    return time.monotonic() - began


def address_of(simulator):
    """That of its live view."""
    return next(re.search(r"live view: (\S+)", line)[1]
                for line in simulator.server.said if "live view: " in line)


def fetch_all(url):
    """(seconds, nodes, links, bytes)"""
    client = Client(url)
    began = time.monotonic()
    if not {"main.js", "style.css", "api.js"} <= client.files():
        raise SystemExit("the page names no files")
    nodes, links = client.all("nodes"), client.all("links")
    client.call("fault.list")
    return time.monotonic() - began, len(nodes), len(links), client.bytes


def draw(driver, url):
    driver.get("about:blank")

    def until_complete():
        driver.get(url)
        WebDriverWait(driver, LONGEST, poll_frequency=0.02).until(
            lambda page: page.execute_script(
                "return document.body.dataset.ready === 'true'"))
    return seconds(until_complete)


def bench_page(scratch, hosts):
    driver = chromium(scratch / "chromium", LONGEST)
    try:
        for count in hosts:
            head(f"The live view of {count} hosts", other="")
            simulator = Ibemu(scratch, TOPOLOGIES[count], None, "static",
                              ["--http=127.0.0.1:0"])
            url = address_of(simulator)
            wanted = WANTED.get(count)
            wanted = wanted and ("less", wanted)
            used = -simulator.server.cpu_seconds()
            got = [fetch_all(url) for _ in range(RUNS)]
            used += simulator.server.cpu_seconds()
            figure("all that the page fetches",
                   statistics.median(run[0] for run in got), "s", wanted)
            figure("the daemon's CPU for it", used / RUNS, "s")
            for name, number in zip(("nodes", "links", "bytes"), got[0][1:]):
                print(f"{name:<58} {number:>10}")
            figure("the page in Chromium, until all is drawn",
                   statistics.median(draw(driver, url) for _ in range(RUNS)),
                   "s", wanted)
            simulator.server.stop()
    finally:
        driver.quit()
