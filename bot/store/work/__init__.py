"""The rows of work: jobs under a lease, and offices that one process holds."""
