"""The rules of review: states and approval, roles, reasons, a community's policy, and the ports of platforms."""
