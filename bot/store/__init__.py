"""The database: tables, queries and the one function that moves a case.

Owns everything that SQLAlchemy sees. Holds no decision of its own: ``core.moderation.approval`` says what is allowed.
"""
