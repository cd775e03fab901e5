"""The rows of a case, and the only function that moves one."""
