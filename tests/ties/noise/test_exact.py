"""Noisy orders held against exact fractions and against an integration that shares nothing with theirs."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from drawing import one_list as board
from relevance_measures import MEASURES, with_cutoffs
from scipy.integrate import quad
from scipy.stats import norm

from metrics import evaluate

NOISY = [measure for measure in MEASURES if measure.family.noisy and not measure.family.own_rule]
ALL = with_cutoffs([""], ["@3"], NOISY)


def values(table, ties, measures):
    return evaluate(table, measures, ties).scores.iloc[0].to_numpy()


def rank_chances(halves, document):
    """Return the chance of each rank of a document, true scores even in two half cells each, as fractions.

    In a half cell all orders are equally likely: with b documents in higher ones and n in the same, each rank
    from b + 1 to b + n has the chance 1/n.
    """
    chances = [Fraction(0)] * len(halves)
    for offsets in product((0, 1), repeat=len(halves)):
        cells = [half + offset for half, offset in zip(halves, offsets, strict=True)]
        above = sum(cell > cells[document] for cell in cells)
        level = cells.count(cells[document])
        for rank in range(above, above + level):
            chances[rank] += Fraction(1, level * 2 ** len(halves))
    return chances


@pytest.mark.parametrize("halves", [[0, 1, 1, 2, 3, 3, 4], [0, 0, 1, 5, 6, 6, 6, 7], [2, 3]])
def test_ranks_of_even_noise_on_a_grid_are_those_of_enumeration_in_fractions(halves):
    names = [f"Hits@{rank}" for rank in range(1, len(halves) + 1)]
    for document in range(len(halves)):
        table = board(np.array(halves) / 2, [document])
        chances = np.diff(values(table, "noise:decimals:0", names), prepend=0)
        exact = [float(chance) for chance in rank_chances(halves, document)]
        assert chances == pytest.approx(exact, abs=1e-12)


SPREADS = [0.02, 0.5, 0.1, 0.05, 0.3]
SCORES = [0.5, 0.45, 0.4, 0.4, 0.1]


def integral(integrand):
    edges = sorted(
        {score + side * sigma for score, sigma in zip(SCORES, SPREADS, strict=True) for side in (-6, 0, 6)}
    )
    return sum(quad(integrand, low, high, epsabs=1e-11, epsrel=1e-10)[0] for low, high in pairwise(edges))


def count_chances(documents, x):
    """Chances of 0, 1, ... of some documents above x."""
    chances = np.ones(1)
    for document in documents:
        above = norm.sf(x, SCORES[document], SPREADS[document])
        chances = np.convolve(chances, [1 - above, above])
    return chances


@pytest.mark.parametrize("relevant", [(0, 3), (1, 4), (2, 3)])
def test_differing_sigmas_agree_with_adaptive_quadrature(relevant):
    others = [document for document in range(5) if document not in relevant]
    pairs = [relevant, relevant[::-1]]

    def expected(worth):
        """Sum over relevant documents of worth(x, chance that the other one is above, chances of the rest)."""

        def integrand(x):
            rest = count_chances(others, x)
            return sum(
                norm.pdf(x, SCORES[own], SPREADS[own]) * worth(norm.sf(x, SCORES[other], SPREADS[other]), rest)
                for own, other in pairs
            )

        return integral(integrand)

    place = np.arange(1.0, 5)
    exact = [
        expected(lambda above, rest: (1 - above) * (rest / place).sum()),
        expected(lambda above, rest: (1 - above) * rest[:2].sum()),
        expected(lambda above, rest: ((1 - above) * rest / place + above * 2 * rest / (place + 1)).sum()) / 2,
        expected(lambda above, rest: (1 - above) * rest[:3].sum() + above * rest[:2].sum()) / 3,
        expected(
            lambda above, rest: (rest * ((1 - above) / np.log2(place + 1) + above / np.log2(place + 2))).sum()
        )
        / (1 + 1 / np.log2(3)),
    ]
    table = board(SCORES, relevant, score_std=SPREADS)
    assert values(table, "noise", ["RR", "Hits@2", "AP", "P@3", "nDCG"]) == pytest.approx(exact, abs=2e-8)


@pytest.mark.parametrize("relevant", [0, 1, 2])
def test_a_narrow_document_at_the_end_of_a_wide_ones_reach_is_scored(relevant):
    scores, spreads = np.array([0.125, 0.625, 0.875]), np.array([0.1, 0.05, 0.05])
    trades = norm.sf((scores[1:] - scores[:-1]) / np.hypot(spreads[1:], spreads[:-1]))  # of neighbours
    exact = {0: 1 / 3 + trades[0] / 6, 1: 1 / 2 + trades[1] / 2 - trades[0] / 6, 2: 1 - trades[1] / 2}[relevant]
    table = board(scores, [relevant], score_std=spreads)
    assert values(table, "noise", ["AP", "RR", "nDCG@2"])[:2] == pytest.approx([exact] * 2, abs=1e-8)


def test_equal_row_deviations_give_the_values_of_one_sigma():
    scores = np.array([0.75, 0.5, 0.5, 0.5, 0.25, 0.25])
    table = board(scores, [1, 4], target_id=list("stsuut"))
    for score, sigma, tolerance in ((scores, 1e-9, 1e-12), (np.ones(6), 1e9, 1e-7)):
        tied = values(table.assign(score=score), "expected", ALL)
        noisy = values(table.assign(score_std=sigma), "noise", ALL)
        assert noisy == pytest.approx(tied, abs=tolerance)


def test_two_sigmas_inside_a_tie_move_measures_off_the_tied_value():
    table = board([0.5] * 4, [0], target_id=list("stuv"), score_std=[1e-6, 1e-7, 1e-7, 1e-7])
    moved = np.abs(values(table, "noise", ALL) - values(table, "expected", ALL)) > 1e-3
    assert [name for name, is_moved in zip(ALL, moved, strict=True) if not is_moved] == ["Judged@3"]
