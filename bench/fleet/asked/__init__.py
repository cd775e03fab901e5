"""What a post asks of the language model, counted while the real engine drafted."""
