"""The outbox and its parts: the one gate to the platforms, the checks before a send, and what is written down.

``core.desk.sending.outbox`` puts the parts in order, and is the way in for everybody else.
"""
