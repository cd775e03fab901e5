"""Review on Mastodon: cards as direct statuses to moderators, and what they answer below them."""
