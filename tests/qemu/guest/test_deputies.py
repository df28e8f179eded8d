"""The end-to-end tests of deputies, with the rights that a unit leaves its
daemon, and a kernel that tells which call a thread is in."""

from test_verbs_deputies import *  # noqa: F401,F403
