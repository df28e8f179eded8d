#!/usr/bin/python3
"""look_at_page.py DIRECTORY [AXE]: pictures of the live view of 32, 648 and 11,664
hosts, to be looked at; with AXE, the axe.min.js of the npm package axe-core, what
that finds hard to use there, and exit status 1 if it finds something.

For who has changed the page.  axe-core is not in Debian, so no test needs it.
"""

import pathlib
import sys
import tempfile

from selenium.webdriver.common.by import By

from bench_lab import LONGEST, TOPOLOGIES, Ibemu
from bench_page import address_of, draw
from chromium import chromium

SIZES = {32: "fat-tree:radix=8,levels=2", 648: TOPOLOGIES[648],
         11664: TOPOLOGIES[11664]}
RUN = """
const done = arguments[arguments.length - 1];
axe.run().then((told) => done(told.violations), (error) => done([{
  id: "error", help: String(error), nodes: []}]));
"""


def violations(driver, axe):
    """As axe-core tells them: rule, what it asks for, and where."""
    driver.execute_script(axe)
    return [f"{one['id']}: {one['help']}: "
            + ", ".join(str(node["target"]) for node in one["nodes"][:5])
            for one in driver.execute_async_script(RUN)]


def look(driver, url, picture, axe):
    """What axe-core finds, in both colour schemes, with a node's panel open."""
    found = []
    for scheme in "light", "dark":
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]})
        draw(driver, url)
        driver.find_element(By.ID, "search").send_keys("node-1\n")
        driver.save_screenshot(f"{picture}-{scheme}.png")
        if axe:
            found += [f"{scheme}: {one}" for one in violations(driver, axe)]
    return found


def main():
    directory = pathlib.Path(sys.argv[1])
    axe = pathlib.Path(sys.argv[2]).read_text() if len(sys.argv) > 2 else None
    directory.mkdir(parents=True, exist_ok=True)
    bad = 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        driver = chromium(scratch / "chromium", LONGEST)
        try:
            for hosts, topology in SIZES.items():
                simulator = Ibemu(scratch, topology, None, "static",
                                  ["--http=127.0.0.1:0"])
                found = look(driver, address_of(simulator),
                             directory / f"{hosts}-hosts", axe)
                simulator.server.stop()
                print(f"{hosts} hosts: " + (f"{len(found)} violations" if axe
                                            else "pictures"))
                print("".join(f"  {one}\n" for one in found), end="")
                bad += len(found)
        finally:
            driver.quit()
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
