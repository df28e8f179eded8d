"""ibportstate changes what a link may train to, and the link trains anew."""

import re

import pytest

SWITCH = 4  # the LID that --sm=static gives it: hosts come first


@pytest.fixture
def subnet(fabric):
    return fabric("single-switch:hosts=3", sm="static")


def value(subnet, name):
    text = subnet.run("node-1", "ibportstate", SWITCH, 2, "query").stdout
    found = re.search(rf"(?m)^{name}:\.*(.+)$", text)
    assert found, text
    return found[1]


def test_a_narrower_width_is_used_after_the_next_training(subnet):
    assert value(subnet, "LinkWidthActive") == "4X"
    subnet.run("node-1", "ibportstate", SWITCH, 2, "width", 1)
    assert value(subnet, "LinkWidthEnabled") == "1X"
    assert value(subnet, "LinkWidthActive") == "4X"
    subnet.run("node-1", "ibportstate", SWITCH, 2, "reset")
    assert value(subnet, "LinkWidthActive") == "1X"


def test_a_lower_speed_is_used_after_the_next_training(subnet):
    subnet.run("node-1", "ibportstate", SWITCH, 2, "espeed", 31)
    subnet.run("node-1", "ibportstate", SWITCH, 2, "speed", 1)
    subnet.run("node-1", "ibportstate", SWITCH, 2, "espeed", 30)
    assert value(subnet, "LinkSpeedEnabled") == "2.5 Gbps"
    subnet.run("node-1", "ibportstate", SWITCH, 2, "reset")
    assert value(subnet, "LinkSpeedActive") == "2.5 Gbps"
    rate = subnet.run("node-2", "cat",
                      "/sys/class/infiniband/ibemu0/ports/1/rate").stdout
    assert rate == "10 Gb/sec (4X SDR)\n"
