"""The command line: what can be typed, what is printed, and the exit codes."""
