"""The knowledge base: documents in, sourced passages out.

Knows ``core`` and nothing else of Antiphon: no chat platform, no database, no web page.
"""
