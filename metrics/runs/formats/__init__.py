"""The formats that can be read: one file a family, and the registry of all."""
