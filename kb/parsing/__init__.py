"""From a file's bytes to pages of clean text, and to paragraphs as spans of pages."""
