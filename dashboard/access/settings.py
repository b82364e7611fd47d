"""Environment variables by which the command tells the app what it serves, and to whom."""

OPEN = "TIESCOPE_OPEN"
"""Which files to open: JSON with runs, qrels and stored."""
ALLOW = "TIESCOPE_ALLOW"
"""Who may sign in: addresses and domains, commas between."""
INSECURE = "TIESCOPE_INSECURE"
"""1 where nobody signs in, whoever reaches the address."""
ALLOW_PATHS = "TIESCOPE_ALLOW_PATHS"
"""What visitors may open by path: a JSON list; none: nothing."""
EMBED = "TIESCOPE_EMBED"
"""Origins whose pages may show the app in a frame, spaces between; none: only its own."""
ALLOW_HOST = "TIESCOPE_ALLOW_HOST"
"""Hosts and origins that the server answers to beside those of this machine, spaces between."""
UPLOAD_LIMITS = {"TIESCOPE_MAX_VISITOR_MB": 1_000, "TIESCOPE_MAX_VISITORS_MB": 4_000}
"""Megabytes of uploaded files that a visitor holds (where nobody signs in: a page), and all together, where the
environment is silent."""
