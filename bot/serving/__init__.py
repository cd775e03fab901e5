"""What runs: the platforms of this process, kept connected each by itself, and all parts beside them until the end."""
