"""What people read, in their language: sentences with values, and the catalogs."""
