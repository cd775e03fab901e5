"""The dashboard: web pages over the desk, on which people decide about cases of every platform.

It reaches the application only by the ports of ``core.desk.rules``, so that it can neither post nor query. Every word
of others stands in a template that escapes it.
"""
