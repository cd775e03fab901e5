"""The engine and the desk: from a post to ranked drafts, and from a flag to an approved reply.

It imports none of the other packages: chat platforms, web pages and documents come to it through ports.
"""
