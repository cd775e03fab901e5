"""What a reply costs and which reply is first, for systems that get the same posts."""
