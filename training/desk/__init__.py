"""Learning from a community's own moderators."""
