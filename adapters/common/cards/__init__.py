"""What a card says of a case, and which decisions it offers."""
