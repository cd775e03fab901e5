"""The same installation as a discrete-event simulation with SimPy, whose parameters were measured on a fleet."""
