"""What the ties of one list leave open."""
