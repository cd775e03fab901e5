"""The cases on which the readers are measured, their disguises, the peers, and tables of shares."""
