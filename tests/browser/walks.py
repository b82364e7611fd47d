"""Random ways through the app: what a visitor may operate, by kind, and all that a page then shows."""

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
LONGEST_RUN = 120
"""Seconds in which a page of the largest board is computed, beside other work."""
PATIENCE = 30
"""Seconds in which a table is drawn that is in sight."""
NARROWER = (0, 200, 300, 400)
"""Pixels by which windows that differ are made narrower for a moment, one after the other in that time.

A table that was measured while it unfolded is drawn, but its cells are not all in the page to be read.
"""
MAIN, SIDEBAR, POPOVER = (f"[data-testid={name}]" for name in ("stMain", "stSidebar", "stPopoverBody"))
KINDS = {
    "option": "[role=radio][aria-checked=false]",
    "pill": "[data-testid=stButtonGroup] [role=toolbar] button",
    "switch": "[data-testid=stCheckbox] label",
    "list": "[data-testid=stSelectbox] input[role=combobox]",
    "slider": "[data-testid=stSlider] input",
    "number": "[data-testid=stNumberInput] button:enabled",
    "text": "[data-testid=stTextInputField]",
    "tag": "[data-testid=stMultiSelect] [data-tag] button",
    "popover": "[data-testid=stPopoverButton]",
    "button": "[data-testid=stElementContainer]:not([class*=delete], [class*=library-]) "
    "[data-testid=stButton] button:enabled",
}
"""What can be operated, whatever page it is on: a control of a kind takes part from the day it is drawn.

What deletes is left alone: its way back is offered to who did it, and to nobody else.
"""
WORDS = ("", "reranker", "MRR >= 0.4")
"""What is typed into a line of text."""
REFUSED = "Nothing was changed."
"""What the app says of a choice that it did not take: a draft, which no link has a place for."""
IN_SIGHT = """([within, selectors]) => selectors.map(selector =>
    [...document.querySelectorAll(`${within} ${selector}`)]
        .map((element, index) => element.checkVisibility({visibilityProperty: true}) ? index : -1)
        .filter(index => index >= 0))"""
UNFOLD = """() => {
    document.activeElement.blur();
    document.querySelectorAll('[data-testid=stMain] details:not([open]) > summary')
        .forEach(summary => summary.click());
}"""
"""Leave the field that is typed into, which counts its letters; and open what is folded."""
DRAFTS = ("add", "only-here", "evict")
"""Switches on what is done with files dropped next: they change nothing that is shown."""
SHOWN = """drafts => {
    const main = document.querySelector('[data-testid=stMain]');
    const isDraft = field => drafts.some(key => field.closest(`[class*="st-key-${key}"]`));
    const fields = [...main.querySelectorAll('input:not([type=file]), textarea, [role=radio], [aria-pressed]')];
    const settings = fields.filter(field => field.checkVisibility() && !isDraft(field)).map(field =>
        JSON.stringify([field.ariaLabel ?? field.innerText, field.value, field.checked,
            field.ariaChecked, field.ariaPressed]));
    const cells = [...main.querySelectorAll('table[role=grid] td')].map(cell => cell.textContent);
    const traces = [...main.querySelectorAll('.js-plotly-plot')].flatMap(plot => plot.data ?? []);
    const drawn = traces.map(({name, x, y, z}) => JSON.stringify([name, x, y, z]));
    return [...main.innerText.split('\\n'), ...settings, ...cells, ...drawn];
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
        """Open an address as somebody who was never here: each load of the app begins a session."""
        self.is_waiting, self.is_running, self.query = True, False, None
        self.page.goto(address)
        self.rest()
        settle(self.page)

    def rest(self):
        """Wait until nothing runs and the address is written."""
        self.page.evaluate(TWO_FRAMES)
        end = time.monotonic() + LONGEST_RUN
        while self.is_waiting:
            assert time.monotonic() < end, f"still running: {self.page.url}"
            self.page.evaluate(TWO_FRAMES)
        expect(self.page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
        self.page.wait_for_function(IS_WRITTEN, arg=self.query)
        self.page.evaluate(TWO_FRAMES)

    def step(self):
        """Do one thing, whatever it is."""
        place = self.chance.choice((None, MAIN, MAIN, MAIN, SIDEBAR))
        if place is None:
            go(self.page, self.chance.choice(sorted(DATA_PAGES.values())))
        else:
            self._operate(place)
        self.rest()

    def _operate(self, place):
        """Operate something in sight there: of any kind, then any of that kind."""
        in_sight = self.page.evaluate(IN_SIGHT, [place, list(KINDS.values())])
        places_of_kind = {kind: indices for kind, indices in zip(KINDS, in_sight, strict=True) if indices}
        if not places_of_kind:
            return
        kind = self.chance.choice(list(places_of_kind))
        index = self.chance.choice(places_of_kind[kind])
        element = self.page.locator(f"{place} {KINDS[kind]}").nth(index)
        operate = {
            "list": self._choose_from_list,
            "slider": self._move_slider,
            "text": self._type,
            "popover": self._look_inside,
        }
        operate.get(kind, lambda element: element.click())(element)

    def _choose_from_list(self, field):
        before = field.input_value()
        field.scroll_into_view_if_needed()
        self.page.evaluate(TWO_FRAMES)  # a list closes when the page is scrolled below it
        field.click()
        options = self.page.get_by_role("option")
        expect(options.first).to_be_visible()
        options.nth(self.chance.randrange(options.count())).click()
        self.rest()
        if self.page.get_by_text(REFUSED).count():
            field.fill(before)
            field.press("Enter")

    def _move_slider(self, handle):
        handle.press(self.chance.choice(("ArrowLeft", "ArrowRight")))

    def _type(self, field):
        field.fill(self.chance.choice(WORDS))
        field.press("Enter")

    def _look_inside(self, button):
        """Operate something in a popover and say that it is to be used, where that is asked."""
        button.click()
        body = self.page.locator(POPOVER)
        expect(body).to_be_visible()
        self._operate(POPOVER)
        self.rest()
        if (use := body.get_by_test_id("stBaseButton-primary")).count():
            use.click()
            self.rest()
        with suppress(AssertionError):
            self.page.keyboard.press("Escape")
            expect(body).to_have_count(0, timeout=1000)


def shown(page):
    """Return all that a page shows: words, settings, cells of tables, what charts are drawn from."""
    return page.evaluate(SHOWN, DRAFTS)


def differences(page, other):
    """Return what two pages show that is not the same, once both are drawn: pairs of texts, by place."""
    for unfolded in (page, other):
        unfolded.mouse.move(0, 0)
        unfolded.evaluate(UNFOLD)
    for narrower in NARROWER:
        for resized in (page, other) if narrower else ():
            size = resized.viewport_size
            resized.set_viewport_size(size | {"width": size["width"] - narrower})
            resized.evaluate(TWO_FRAMES)
            resized.set_viewport_size(size)
        if become_alike(page, other, PATIENCE / len(NARROWER)):
            return []
    pairs = itertools.zip_longest(shown(page), shown(other))
    return [pair for pair in pairs if pair[0] != pair[1]]


def become_alike(page, other, seconds):
    """Wait until two pages show the same; return whether they do in time."""
    end = time.monotonic() + seconds
    while shown(page) != shown(other):
        if time.monotonic() > end:
            return False
        for drawn in (page, other):
            drawn.evaluate(TWO_FRAMES)
    return True
