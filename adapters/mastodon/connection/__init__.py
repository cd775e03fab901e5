"""How the instance is asked, what its answers mean, and how what it tells is kept until it is dealt with."""
