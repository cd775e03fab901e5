"""Logging in at an instance, and looking whether an account there may do what Antiphon needs."""
