"""The database: queries by subject, and the one function that moves a case (``core.desk.store.cases.transition``).

Every function works inside the caller's transaction and never commits. ``core.desk.rules.approval`` says what is
allowed.
"""
