"""The cases on which the readers are measured."""
