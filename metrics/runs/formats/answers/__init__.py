"""What language models answer, as it comes: permutations, preferences, and probabilities of grades."""
