"""The pages of the app, one file or folder each."""
