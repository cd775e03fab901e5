"""What every part of a running process needs: logs, metrics, leases, findings, and points where tests break it."""
