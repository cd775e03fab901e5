"""The rows of people, communities and the audit log."""
