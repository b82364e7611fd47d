"""What a page of the app shows, as values that can be compared from one version to the next."""

KINDS = (
    *("selectbox", "segmented_control", "multiselect", "number_input", "text_input", "slider", "toggle"),
    *("pills", "button_group"),
)
"""Controls whose values a link can set."""


def shown(page):
    """Return the values of the controls a link names, the cards, and what the page found."""
    controls = {}
    for kind in KINDS:
        for control in page.get(kind):
            key = str(control.key or "")
            if key.isidentifier() and not key.startswith("_"):
                controls[key] = control.value
    return {
        "title": [title.value for title in page.title],
        "controls": controls,
        "cards": {card.label: card.value for card in page.metric},
        "findings": [text.value for text in page.markdown if text.value.startswith(":material/lightbulb:")],
    }
