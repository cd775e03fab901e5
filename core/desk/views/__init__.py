"""What is counted and shown: cards, status, statistics.

Every function works inside the caller's transaction and never commits.
"""
