"""What all benchmarks share: meters, metrics, samples, tests of significance, tables."""
