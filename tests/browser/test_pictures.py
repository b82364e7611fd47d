"""Charts leave the page as files, from their own menu."""

from pages import settle
from streamlit.proto.BackMsg_pb2 import BackMsg

FIRST_BYTES = {"SVG": b"<svg", "PNG": b"\x89PNG"}


def test_a_chart_is_saved_from_its_menu_without_a_run(new_page):
    page, reruns = new_page("/ties"), []

    def note_rerun(frame):
        request = BackMsg.FromString(frame).rerun_script
        if request.ByteSize() and not request.is_auto_rerun:
            reruns.append(request)

    page.on("websocket", lambda socket: socket.on("framesent", note_rerun))
    page.reload()
    settle(page)
    assert reruns
    reruns.clear()
    plot = page.locator(".js-plotly-plot").first
    plot.hover()
    for kind, first_bytes in FIRST_BYTES.items():
        with page.expect_download() as download:
            plot.locator(f'.modebar-btn[data-title="Save as {kind}"]').click()
        assert download.value.path().read_bytes().startswith(first_bytes)
        assert download.value.suggested_filename.endswith(kind.lower())
    assert not reruns
