"""Floor 6: TieScope inside other libraries: a file for each, imported only by who uses that library."""
