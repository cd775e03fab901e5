"""The commands of who runs an installation: its processes, its database, and what is wrong with it."""
