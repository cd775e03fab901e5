"""Learning from rewards, by TRL: GRPO and RLOO; and pairs of the writer's own samples."""
