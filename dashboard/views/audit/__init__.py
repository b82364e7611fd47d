"""The page Audit: which published order stands."""
