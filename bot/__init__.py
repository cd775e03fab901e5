"""The application: the desk, its database, and the commands that start it. ``bot.compose`` puts the parts together.

It may import every other package except ``bench`` and ``tests``; of the others only ``bench`` imports it.
"""
