"""The database: tables, queries and the one function that moves a case.

Owns everything that SQLAlchemy sees. Holds no decision of its own: ``core.review`` says what is allowed.
"""
