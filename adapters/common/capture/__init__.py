"""From events on a platform to flagged posts, and to what the people who flagged them are told."""
