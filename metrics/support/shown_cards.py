"""What the figures on cards mean, by the labels of the cards."""

import re
from collections.abc import Mapping

_CARDS: Mapping[str, str] = {
    # leaderboards
    "(Best|First by) .+": "The highest mean, and whose it is.",
    "Largest gap": "Traditional minus tied mean, where the two are farthest apart.",
    "Orders that swap": "Pairs of rerankers that the sort puts in one order and the tied mean in the other.",
    "Ties matter in": "Lists whose value depends on the order of their ties.",
    "Ties are settled": "The measure gives one value, whatever the order of ties.",
    "Answers": "The measure whose ties this one settles by its rule.",
    "Unjudged in the .+": "Documents within the cut-off that nobody judged, ties averaged, of all rerankers.",
    "Can lead, at most": "Rerankers whose hatched bar reaches the lower end of all others. Each bar takes the "
    "judgments that suit it; as lists share documents, fewer can lead in truth.",
    "Most ties": "Documents of a list that tie, mean over lists; the reranker with most.",
    "Farthest single list": "The largest absolute gap of one list, and whose it is.",
    # files
    "Files read": "Files of this board, and the rows they hold.",
    "Rerankers": "Rerankers of this board, and how many queries they answer.",
    "Documents tied": "Documents of a list that tie, mean over the lists of all rerankers.",
    "Findings": "What is worth knowing of these files; listed below.",
    "Uploads": "Files in your library.",
    "Runs": "Files in your library that hold scores.",
    "Boards": "Boards that use these files.",
    "Room taken": "What these files take of the room there is.",
    # one list
    "Traditional .+|RR as listed": "Value by one order of the ties.",
    "Tied .+|MTRR": "Mean over every order that the ties allow.",
    "TMHits@.+|Hits": "Chance of a relevant document within the cut-off when ties fall at random.",
    "Worst order": "The lowest value that an order of the ties gives.",
    "Best order": "The highest value that an order of the ties gives.",
    "Worst to best.*|Range": "The lowest and the highest value that an order of the ties gives.",
    "(ta|Ts|P|GRAG-)RR|GRAG-Hits@.+": "The measure's own rule for ties gives this value, whatever their order.",
    # comparisons
    "Significant, tied": "Comparisons that are significant by tied values.",
    "Significant, traditional": "Comparisons that are significant by traditional values.",
    "Verdicts that change": "Significant by one of the two values, or with opposite signs.",
    "Queries": "Queries that are ranked.",
    "Detectable difference": "The smallest true difference that this many queries are likely to show.",
    # speed and diversity
    "Fastest": "The shortest time a list takes, and whose it is.",
    "Largest Div@.+": "Distinct relevant targets in the top, mean over lists; the reranker with most.",
    # noise
    "Leader changes at": "The noise at which another passes the reranker that leads without noise; and who.",
    "Order even at": "The noise at which the order of all rerankers holds in half of the draws.",
    "Most lost at σ = .+": "The largest fall from the tied value under that noise, and whose it is.",
    "Loses .01 at": "The least noise at which the value is .01 below the tied one.",
    "MRR": "Value by the one order that the file happens to give.",
    "MRR under noise": "Mean over every order that noise of the scores makes possible.",
    "MRR of one tie": "Mean over every order of all documents.",
    "Places traded": "Pairs of rerankers whose lines cross as noise grows.",
    # published tables
    "Figures that come out": "Printed figures that the rule that fits best gives, to the digit or by rounding.",
    "Orders that stand": "Printed orders of two rerankers that no order of the ties reverses. Within luck: "
    "other queries could.",
    "Tiers": "Groups of rerankers that share their highest possible rank, other queries allowed for.",
    # targets
    "Targets met, tied": "Targets that the mean over every order of the ties meets.",
    "Targets met, traditional": "Targets that one order of the ties meets, the traditional one.",
    "Met in every order": "Targets that are met even if every tie falls in its worst order.",
    "Met by sort order only": "Targets that the traditional value meets, and the tied one misses.",
    # how many orderings
    "Can be enumerated": "Lists of 10,000 orderings or fewer.",
    "Orderings in all": "Orders that ties allow, summed over lists.",
    "Tie groups": "Groups of documents that tie, in all lists.",
    "Draws advised": "Random orders to draw for lists that cannot be enumerated, as in the notebook.",
}
"""Pattern of a label → what the figure means."""


def card_help(label: str) -> str | None:
    """Return what the figure on a card means; None for a label that is not known."""
    return next((meaning for pattern, meaning in _CARDS.items() if re.fullmatch(pattern, label)), None)
