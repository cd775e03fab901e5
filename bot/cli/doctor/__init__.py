"""What ``antiphon doctor`` looks at, by subject: each check does what the application does, and changes nothing.

``tests/data/faults.tsv`` lists every breakage that is told apart; ``tests/integration/bot/cli/doctor``
causes each of them.
"""
