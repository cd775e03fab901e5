"""What a file is, and one reader for each format."""
