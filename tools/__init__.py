"""Programs for developers: catalogs of sentences, pages that are generated, specifications cut down."""
