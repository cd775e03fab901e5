"""The connection to Discord: one client, its requests and events, and what Discord's errors mean."""
