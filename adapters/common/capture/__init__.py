"""From a platform's events to flagged posts, and to the answers for the people who flagged them."""
