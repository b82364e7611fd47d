"""Stored uploads and boards: SQL holds the metadata, files hold the bytes. Does not import streamlit."""
