"""One bot account and its instance: requests, notifications, names, and what errors mean."""
