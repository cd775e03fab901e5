"""The library as it is searched."""
