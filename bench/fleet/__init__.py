"""How many posts an installation of several bots and workers takes, by driving one and by simulating it."""
