"""A page of an earlier version: `app.py` leads on from its address to where it is now."""
