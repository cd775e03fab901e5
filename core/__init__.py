"""The engine and the rules: a flagged post in, ranked drafts out.

It does not know chat platforms, databases or web pages, and it imports none of the other packages.
"""
