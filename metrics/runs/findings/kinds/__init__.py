"""Every kind of finding there is."""
