"""What managers see and choose: the panels as data, and the reports."""
