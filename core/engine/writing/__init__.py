"""Drafts that are no reply to the post: words of support for the person attacked, and the notice on the rules."""
