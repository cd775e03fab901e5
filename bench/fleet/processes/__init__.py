"""The processes of a fleet: bots, workers and model servers, each with a line to the one that drives them."""
