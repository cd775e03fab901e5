"""Offline training of the small weights that ship with Antiphon. The application does not import it."""
