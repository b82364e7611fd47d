"""Where uploads and boards lie: SQL tables and Parquet files."""
