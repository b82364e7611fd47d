"""Charts of rerankers side by side."""
