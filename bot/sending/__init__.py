"""The outbox and its parts: the one gate to the platforms, the checks before a send, and what is written down.

``bot.sending.outbox`` puts them in order. Nothing else may use them: a text is posted only after its approval.
"""
