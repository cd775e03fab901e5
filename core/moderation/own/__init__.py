"""What a community adds of its own: prepared replies and argument cards, and how both are checked."""
