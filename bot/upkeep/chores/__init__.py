"""What has to be done from time to time: one module for each chore, and the runner that does them.

A chore looks at the database and does all that is due, so that a slot that was missed is made up by the next one, and
one that is done twice does no harm. None of them approves or posts anything.
"""
