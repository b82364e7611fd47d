"""Floor 7: the browser app. The only place that imports streamlit or plotly."""
