"""Training of the small weights that ship: readers of posts and drafts, the router, and what is fitted beside them."""
