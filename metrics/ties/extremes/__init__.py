"""Best and worst orders of ties for measures that look at more than grades."""
