"""Benchmarks: each prints a table and JSON, and compares with a peer or a limit in the same run."""
