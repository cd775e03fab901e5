"""Stages 3 and 4: the drafts, of a larger model and of the search, and those that argue nothing."""
