"""Floor 6: questions asked of an evaluation, answered in tables and sentences."""
