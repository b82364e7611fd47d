"""Pages on which a decision rests."""
