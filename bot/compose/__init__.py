"""The composition root: reads the settings and builds every object. Nothing is decided here."""
