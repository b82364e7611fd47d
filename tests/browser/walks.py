"""Random ways through the app: what a visitor may click, and all that a page then shows."""

import itertools
import time
from contextlib import suppress

from opening import DATA_PAGES
from pages import TWO_FRAMES, go, settle
from playwright.sync_api import expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

IS_WRITTEN = "query => query === null || location.search === (query && '?' + query)"
"""Whether the address says what the app wrote last, if it wrote anything."""


PATIENCE = 10
"""Seconds in which a table is drawn that is in sight."""
SHOWN = """() => {
    const main = document.querySelector('[data-testid=stMain]');
    const cells = [...main.querySelectorAll('table[role=grid] td')].map(cell => cell.textContent);
    const traces = [...main.querySelectorAll('.js-plotly-plot')].flatMap(plot => plot.data ?? []);
    const drawn = traces.map(({name, x, y, z}) => JSON.stringify([name, x, y, z]));
    return [...main.innerText.split('\\n'), ...cells, ...drawn];
}"""


class Walker:
    """A visitor who waits for what a click does: for its run to end, and for the address it writes."""

    def __init__(self, page, chance):
        self.page, self.chance = page, chance
        self.is_waiting, self.is_running, self.query = True, False, None
        page.on("websocket", self._listen)

    def _listen(self, socket):
        socket.on("framesent", self._note_request)
        socket.on("framereceived", self._note_answer)

    def _note_request(self, frame):
        request = BackMsg.FromString(frame).rerun_script
        if request.ByteSize() and not request.fragment_id:
            self.is_waiting, self.is_running = True, False

    def _note_answer(self, frame):
        message = ForwardMsg.FromString(frame)
        kind = message.WhichOneof("type")
        if kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "new_session":
            self.is_running = True
        elif kind == "script_finished" and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
            self.is_waiting = self.is_waiting and not self.is_running

    def visit(self, address):
        self.page.goto(address)
        settle(self.page)
        self.rest()

    def rest(self):
        """Wait until nothing runs and the address is written."""
        self.page.evaluate(TWO_FRAMES)
        while self.is_waiting:
            self.page.evaluate(TWO_FRAMES)
        expect(self.page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
        self.page.wait_for_function(IS_WRITTEN, arg=self.query)

    def step(self):
        """Do one thing, whatever it is."""
        steps = (
            *[self._turn_page] * 2,
            *[self._choose_option] * 3,
            *[self._choose_from_list] * 2,
            self._move_slider,
            self._change_scoring,
            self._leave_out_reranker,
        )
        self.chance.choice(steps)()
        self.rest()

    def _any(self, elements):
        """Return one of the elements in sight; None where there is none."""
        visible = [element for element in elements.all() if element.is_visible()]
        return self.chance.choice(visible) if visible else None

    def _turn_page(self):
        go(self.page, self.chance.choice(sorted(DATA_PAGES.values())))

    def _choose_option(self, within="stMain"):
        options = self.page.get_by_test_id(within).locator("[role=radio][aria-checked=false]")
        if option := self._any(options):
            option.click()

    def _choose_from_list(self):
        if field := self._any(self.page.locator("[data-testid=stSelectbox] input[role=combobox]")):
            field.click()
            if option := self._any(self.page.get_by_role("option")):
                option.click()
            else:
                self.page.keyboard.press("Escape")

    def _move_slider(self):
        if handle := self._any(self.page.get_by_test_id("stMain").get_by_role("slider")):
            handle.press(self.chance.choice(("ArrowLeft", "ArrowRight")))

    def _change_scoring(self):
        self.page.get_by_test_id("stSidebar").get_by_role("button", name="Scoring").click()
        body = self.page.get_by_test_id("stPopoverBody")
        if self.chance.random() < 1 / 2:
            field = body.get_by_role("spinbutton", name="Relevant from grade")
            field.fill(str(self.chance.randint(1, 3)))
            field.press("Enter")
        else:
            self._choose_option("stPopoverBody")
        self.rest()
        self._close(body)

    def _leave_out_reranker(self):
        self.page.get_by_test_id("stSidebar").get_by_role("button", name="Filter").click()
        body = self.page.get_by_test_id("stPopoverBody")
        expect(body).to_be_visible()
        if remove := self._any(body.locator("[data-testid=stMultiSelect] [data-tag] button")):
            remove.click()
        self.rest()
        self._close(body)

    def _close(self, body):
        with suppress(AssertionError):
            self.page.keyboard.press("Escape")
            expect(body).to_have_count(0, timeout=1000)


def shown(page):
    """Return all that a page shows: words and numbers, cells of tables, what charts are drawn from."""
    return page.evaluate(SHOWN)


def differences(page, other):
    """Return what two pages show that is not the same, once both are drawn: pairs of texts, by place."""
    end = time.monotonic() + PATIENCE
    while shown(page) != shown(other) and time.monotonic() < end:
        page.evaluate(TWO_FRAMES)
    pairs = itertools.zip_longest(shown(page), shown(other))
    return [pair for pair in pairs if pair[0] != pair[1]]
