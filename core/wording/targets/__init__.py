"""The groups that a text speaks about, and how: names of groups, slurs, accusations."""
