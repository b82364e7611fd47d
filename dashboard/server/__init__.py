"""What stands between a browser and the pages: headers, limits of uploads, sessions that end."""
