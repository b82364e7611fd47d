"""What the Guide computes."""
