"""Runs: what was ranked, as given."""

from dashboard import cache, state, upload
from dashboard.components import Card, cards, finding, page
from dashboard.library import queries_text
from metrics.studies.prose import percent

page("Runs", "What was ranked, as given. Files are recognised by their content, checked, and never sorted.")
upload.drop()

view = state.view()
board = view.board
finding(upload.board_finding(board))
found = board.runs.findings
rows = sum(len(source.table) for source in board.sources)
ties = cache.evaluation(board.label, board).lists["tie_ratio"].mean()
cards(
    Card("description", "Files read", str(len(board.files)), f"{rows:,} rows"),
    Card("leaderboard", "Rerankers", str(len(board.runs.tables)), queries_text(board.n_queries), "blue"),
    Card("join_inner", "Documents tied", percent(ties), "mean over lists", "orange"),
    Card("error", "Findings", str(len(found)), "see below" if len(found) else "nothing to note"),
)
upload.file_cards(board, view.palette)
upload.preview(board)
upload.findings(found)
