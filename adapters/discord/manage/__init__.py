"""What managers do with Antiphon in their server: ``/antiphon``."""
