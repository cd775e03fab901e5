"""What becomes of a draft: gates and rewards, the review or the judge, the order, and what a moderator is told."""
