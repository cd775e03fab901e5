"""Replies that the project prepared in advance; README.md says how."""
