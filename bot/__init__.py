"""The application: the desk, its database, and the commands that start it. ``bot.compose`` puts the parts together.

It may import ``adapters``, ``kb`` and ``core``; only ``bench``, ``tools`` and the tests may import it.
"""
