"""What an installation is made of: known vulnerabilities among the pinned packages, and the bill of materials."""
