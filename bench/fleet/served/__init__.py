"""What a real model server does: its rates, and how long it takes for what posts ask of it."""
