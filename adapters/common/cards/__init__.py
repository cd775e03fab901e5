"""What a card says about a case, and which decisions it offers."""
