"""Runs: what was ranked, as given."""

from dashboard import cache, session
from dashboard.library.boards import queries_text
from dashboard.views.data.runs.arrangement import arrange
from dashboard.views.data.runs.board_panel import board_panel
from dashboard.views.data.runs.file_cards import columns_and_rows, file_cards
from dashboard.views.data.runs.finding_cards import finding_cards
from dashboard.views.data.runs.repeats import offer_repeats
from dashboard.views.data.runs.upload import board_finding, upload_field
from dashboard.widgets.components import Card, cards, finding, page_head
from metrics.support.wording import count_of, percent

page_head(
    "Runs", "What was ranked, as given. Files are recognised by their content, checked, and never sorted."
)
view = session.view()
board = view.board
upload_field(view)
finding(board_finding(board))
findings = cache.findings(board)
rows = sum(len(source.table) for source in board.sources)
ties = cache.evaluation(board).lists["tie_ratio"].mean()
grave = int((findings["severity"] == "error").sum())
note = f"{grave} error{'s' * (grave > 1)}" if grave else "see below" if len(findings) else "nothing to note"
cards(
    Card("description", "Files read", str(len(board.files)), count_of(rows, "row")),
    Card("leaderboard", "Rerankers", str(len(board.runs.tables)), queries_text(board.n_queries), "blue"),
    Card("join_inner", "Documents tied", percent(ties), "mean over lists", "orange"),
    Card("error", "Findings", str(len(findings)), note, "red" if grave else "gray"),
)
board_panel(view)
offer_repeats(board)
file_cards(board, findings, view.palette)
columns_and_rows(board)
finding_cards(board, findings)
arrange(board)
