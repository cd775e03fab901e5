"""What is said, in the reader's language and within a platform's limits."""
