"""Words and sentences in the reader's language, within a platform's limits."""
