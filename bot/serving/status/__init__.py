"""What a process says of itself over HTTP: its metrics, that it lives, and whether it is ready."""
