"""A command's process without its imports: they take eight seconds, and are the same for every start."""
