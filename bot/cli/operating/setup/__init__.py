"""``antiphon setup``: from nothing to a community in shadow mode, by questions that can be answered again.

Nothing is written before the last question is answered, and nothing is lost that was set before.
"""
