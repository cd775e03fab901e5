"""Instructions to a model inside a text."""
