"""The knowledge base: documents in, sourced passages out.

Of Antiphon it imports only ``core``. The library keeps its documents in its own SQLite file (``kb.library``).
"""
