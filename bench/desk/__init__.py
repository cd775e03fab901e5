"""What the desk costs without any model: its database, and the cards that it shows."""
