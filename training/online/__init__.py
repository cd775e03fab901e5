"""Learning from rewards: GRPO and RLOO by TRL, and PPO as CoARL and F2RL describe it."""
