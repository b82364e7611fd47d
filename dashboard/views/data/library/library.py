"""Library: all uploads that are kept, and the versions of a reranker among them."""

from dashboard import session
from dashboard.views.data.library.list_by_list import list_by_list
from dashboard.views.data.library.over_time import over_time
from dashboard.views.data.library.uploads_table import uploads_section
from dashboard.widgets.components import page_head

page_head("Library", "Files that were uploaded and are kept, each found again by the hash of its content.")
view = session.view()
list_by_list(view, over_time(view, uploads_section(view)))
