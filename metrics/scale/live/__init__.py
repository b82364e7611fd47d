"""Lists that never end: files as they come to a folder, lines as they are written, and what is new in them."""
