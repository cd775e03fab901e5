"""What arrived from a platform, from the inbox to who listens."""
