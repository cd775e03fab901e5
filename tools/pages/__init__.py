"""Programs that write pages and pictures from what Antiphon says; tests/unit/docs checks the texts."""
