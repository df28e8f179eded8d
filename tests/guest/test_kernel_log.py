"""Which lines of a kernel's log make a test fail: kernel_log.py."""

from kernel_log import faults

BOOT = "<5>[    0.000000] Linux version 6.1.0"


def test_what_a_boot_says_is_no_fault():
    assert faults(f"""{BOOT}
<4>[    0.040000] tsc: Unable to calibrate against PIT
<4>[    9.3] mlx4_core 0000:00:10.0: Requested number of MACs is too much for \
port 1, reducing to 1
<6>[    9.9] sdhci: no error""") == []


def test_errors_are_faults_whoever_has_them():
    for line in ("<3>[    1.0] e1000: no such thing",
                 "<0>[    1.0] the end is near",
                 "<11>[    1.0] said by a user, as an error"):
        assert faults(f"{BOOT}\n{line}") == [line]


def test_warnings_are_faults_of_the_drivers_under_test():
    line = "<4>[    1.0] mlx4_core 0000:00:10.0: giving up"
    assert faults(f"{BOOT}\n{line}") == [line]


def test_complaints_of_theirs_are_faults_at_any_level():
    line = "<6>[    1.0] mlx4_core 0000:00:10.0: command 0x54 failed"
    assert faults(f"{BOOT}\n{line}") == [line]


def test_signs_are_faults_at_any_level():
    line = "<6>[    1.0] Call Trace:"
    assert faults(f"{BOOT}\n{line}") == [line]


def test_what_a_test_provokes_is_no_fault_of_that_test():
    line = "<3>[    1.0] mlx4_core 0000:00:10.0: command 0x54 failed"
    assert faults(f"{BOOT}\n{line}", provoked=["command 0x54 failed"]) == []
    assert line in faults(f"{BOOT}\n{line}", provoked=["another"])


def test_what_a_test_provokes_has_to_come():
    line = "<3>[    1.0] mlx4_core 0000:00:10.0: command 0x54 failed"
    assert faults(f"{BOOT}\n{line}", provoked=["0x54 failed", "0x55"]) == [
        "there is no error like: 0x55"]


def test_what_is_no_error_is_not_what_a_test_provokes():
    line = "<6>[    1.0] sdhci: going to be reset"
    assert faults(f"{BOOT}\n{line}", provoked=["going to be reset"]) == [
        "there is no error like: going to be reset"]
