"""Commands that score lists: in memory, part by part, as they come."""
