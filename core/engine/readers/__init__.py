"""The two small readers, of posts and of drafts, with their weights and their card."""
