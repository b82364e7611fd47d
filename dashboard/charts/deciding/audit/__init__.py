"""Charts of an audit: which figures come out, and by which rule."""
