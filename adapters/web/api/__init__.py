"""The dashboard's API: JSON over the services that the pages use, for programs that have a token.

It can neither approve a reply nor settle, send or retract one.
"""
