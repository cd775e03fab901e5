"""Benchmarks: most print tables and JSON, and compare with a peer or a limit in the same run."""
