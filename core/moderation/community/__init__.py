"""How a community wants Antiphon to behave: its policy, and the rules for what it may set."""
