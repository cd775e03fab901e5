"""A flagged post in, ranked drafts out: reading, arguing, writing, review. It knows no community and no platform."""
