"""Mastodon on loopback: mastodon-mock behind a proxy that checks, refuses and strikes as a real instance does."""
