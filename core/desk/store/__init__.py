"""The database: tables, queries and the one function that moves a case.

Owns the tables and the connection. Decides nothing itself: ``core.desk.rules.approval`` says what is allowed.
"""
