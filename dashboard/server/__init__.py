"""What stands between a browser and the pages: limits of connections and uploads, hosts, headers, sessions."""
