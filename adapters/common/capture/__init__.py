"""From what happens on a platform to flagged posts, and to what is told to people who flagged them."""
