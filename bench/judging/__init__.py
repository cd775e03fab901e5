"""What a ranking costs and finds, and whether our judge agrees with another judge."""
