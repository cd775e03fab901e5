"""What happens by the clock: the schedule, its chores, and the erasure of people."""
