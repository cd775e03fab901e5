"""The dashboard: web pages over the desk, on which people decide about cases of every platform.

It reaches the application by the services and rules of the desk alone, and neither posts nor queries by itself. Every
word of others stands in a template that escapes it.
"""
