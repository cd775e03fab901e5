"""Backups, erasure and scrubbing of rows."""
