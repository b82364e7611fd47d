"""From bytes to typed columns, with the line of every row."""
