"""The command line of training."""
