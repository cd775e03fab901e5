"""Mastodon and what speaks its client API: one bot account on its home instance."""
