"""BM25 and vectors for millions of paragraphs, in versions named by their content."""
