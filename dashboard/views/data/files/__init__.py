"""The sections Files, Columns and Rerankers of Data."""
