"""A headless Chromium, for tests of the live view and its benchmark."""

import os

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service


def chromium(profile, patience):
    """Its driver.  `profile`: a directory of its own; `patience`: seconds that a
    page or a script may take."""
    options = Options()
    for argument in ("--headless=new", "--disable-dev-shm-usage",
                     "--disable-gpu", "--window-size=1400,900",
                     f"--user-data-dir={profile}"):
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"),
                              options=options)
    driver.set_page_load_timeout(patience)
    driver.set_script_timeout(patience)
    return driver
