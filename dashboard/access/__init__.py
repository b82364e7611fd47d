"""Access control: sign-in and allowed server files."""
