"""The browser app, above every floor of `metrics`; the only place that imports streamlit or plotly."""
