"""Who may enter, and what they may open on the server."""
