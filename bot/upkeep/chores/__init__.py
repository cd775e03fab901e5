"""What has to be done from time to time; one module for each chore.

A chore looks at the database and does all that is due. The next slot therefore makes up for a missed one, and doing a
slot twice does no harm. No chore approves or posts anything.
"""
