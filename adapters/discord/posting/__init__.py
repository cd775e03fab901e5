"""Reading posts, and putting replies under them."""
