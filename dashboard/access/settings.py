"""Environment variables through which the command configures the app."""

OPEN = "TIESCOPE_OPEN"
"""Files to open: JSON with runs, qrels and stored."""
ALLOW = "TIESCOPE_ALLOW"
"""Addresses and domains that may sign in, separated by commas."""
INSECURE = "TIESCOPE_INSECURE"
"""1 disables sign-in on every address."""
EMBED = "TIESCOPE_EMBED"
"""Origins that may embed the app in a frame, separated by spaces."""
ALLOW_HOST = "TIESCOPE_ALLOW_HOST"
"""Further hosts and origins that the server answers to, separated by spaces."""
UPLOAD_LIMITS = {"TIESCOPE_MAX_VISITOR_MB": 1_000, "TIESCOPE_MAX_VISITORS_MB": 4_000}
"""Default megabytes of uploads per visitor (per page without sign-in) and for the server."""
