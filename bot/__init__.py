"""The application: the only place where objects are built, and the only one that knows the database.

It may import every other package; no other package may import it.
"""
