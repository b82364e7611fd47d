"""The commands that need no browser: data on stdout, messages on stderr, exit codes by `messages`."""
