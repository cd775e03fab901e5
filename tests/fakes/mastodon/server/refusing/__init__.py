"""What the fake instance refuses, as a real one does: by its description, scopes, roles, limits and keys."""
