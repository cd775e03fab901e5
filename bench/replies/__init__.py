"""What a reply costs and what comes first: systems compared on the same posts."""
