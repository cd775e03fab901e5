"""The connection: SQLite and PostgreSQL, revisions, transactions, the installation's secret."""
