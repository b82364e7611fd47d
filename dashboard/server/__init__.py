"""The ASGI server: limits of connections and uploads, hosts, headers, sessions."""
