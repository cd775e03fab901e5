"""Learning from rewards, by TRL: GRPO and RLOO."""
