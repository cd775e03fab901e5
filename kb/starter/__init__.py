"""The facts that ship, the gaps that they leave, and their index."""
