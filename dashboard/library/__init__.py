"""Uploads and boards that stay: SQL says what there is, Parquet holds it. No streamlit inside."""
