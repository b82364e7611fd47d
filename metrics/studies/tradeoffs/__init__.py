"""Quality against latency and diversity."""
