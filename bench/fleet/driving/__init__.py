"""One run of a fleet: what runs in it, its database, and what is measured."""
