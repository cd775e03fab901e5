"""Cases from the flag to the reply: rules, intake, drafting, review, approval, sending, communities, upkeep, store."""
