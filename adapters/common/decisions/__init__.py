"""What happens between a press and its answer; one flow for each decision."""
