"""How long tests wait for what must happen."""

PATIENCE_S = 240
"""Seconds after which a test gives up; what takes them even on a busy machine never comes.

It is less than pytest's own limit, so that the test says what it waited for.
"""
