"""``antiphon kb``: collecting documents, accepting them, and searching."""
