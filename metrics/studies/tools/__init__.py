"""What other software reports for the same files."""
