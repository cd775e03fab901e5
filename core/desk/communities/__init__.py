"""What managers decide for their community: rules, roles, exports."""
