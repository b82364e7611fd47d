"""Floor 6: TieScope inside other libraries, one file for each; only their users import it."""
