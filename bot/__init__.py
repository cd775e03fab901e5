"""The application: commands, the settings they read, the parts put together, and what runs."""
