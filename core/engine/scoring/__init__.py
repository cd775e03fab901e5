"""What a draft is measured by: gates, rewards, receipts, grounding."""
