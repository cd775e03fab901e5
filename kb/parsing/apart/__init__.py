"""The locked process in which a file is read."""
