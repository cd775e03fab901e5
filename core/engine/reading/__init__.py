"""Stage 1: what a post says and does, whom it attacks, and whether a reply is advised."""
