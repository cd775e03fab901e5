"""Published sets of counterspeech, read from a user's own copy."""
