"""Where means and ranks land when ties fall at random."""
