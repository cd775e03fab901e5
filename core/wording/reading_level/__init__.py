"""How hard a reply is to read: by an established formula in English, Spanish and Italian, and not at all in Basque."""
