"""A run of training on disk: its values, its log, its plots and its card."""
