"""Offline training: what makes the small weights that ship with Antiphon. Nothing of the application imports it."""
