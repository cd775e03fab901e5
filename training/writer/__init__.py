"""Training the writer: a LoRA adapter for the model that writes, from our own texts or a user's."""
