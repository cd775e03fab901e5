"""The engine and the rules: a flagged post in, ranked drafts out.

Knows no chat platform, no database and no web page; it imports nothing of the other packages.
"""
