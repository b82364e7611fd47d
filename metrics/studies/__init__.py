"""Floor 5: questions asked of an evaluation, answered in tables and sentences."""
