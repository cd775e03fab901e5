"""The moderation reports of the home instance: taken in without the people's addresses, assigned, and resolved."""
