"""Floor 5: evaluation of data larger than memory."""
