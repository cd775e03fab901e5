"""Documents, revisions, pages and paragraphs in SQLite: what waits for acceptance and what is served."""
