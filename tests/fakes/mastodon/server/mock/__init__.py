"""mastodon-mock in this process: its accounts, what is put right in it, and how its answers are shown."""
