"""What every part of a running process needs: points where tests break it, and waits that end early."""
