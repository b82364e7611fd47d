"""The browser app: the only package that imports streamlit or plotly."""
