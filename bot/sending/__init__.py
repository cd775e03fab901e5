"""What the outbox is made of: the one gate to the platforms, the checks before a send, and what is written down.

``bot.sending.outbox`` puts them in order. Must never be used by anything else: who wants something posted approves it.
"""
