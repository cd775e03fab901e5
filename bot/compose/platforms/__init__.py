"""The chat platforms as the application serves them."""
