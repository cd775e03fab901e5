"""Documents, revisions, pages and paragraphs in SQLite; what waits and what is served."""
