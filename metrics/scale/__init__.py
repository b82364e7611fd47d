"""Floor 5: the same evaluation of what is larger than memory."""
