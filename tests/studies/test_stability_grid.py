"""Every chance, place and tau of a grid of boards, held against tie orders drawn by a textbook."""

import numpy as np
import pytest
from tie_breaking_draws import MEASURES, Board, order_shares

from metrics import evaluate
from metrics.measures import parse
from metrics.studies.mean_distributions import SPREADS
from metrics.studies.stability import OrderStability
from metrics.ties import Ranking

BOARDS = [
    *(Board(1, size, 1, shape) for size in (5, 40, 1000) for shape in ("all", "huge")),
    *(Board(1, 40, 10, shape) for shape in ("all", "huge", "small", "boundary")),
    Board(1, 120, 30, "huge", rerankers=2),
    *(Board(1, size, 4, "mixed", graded=True, rerankers=4) for size in (5, 40, 1000)),
    *(Board(5, size, 1, shape, rerankers=2) for size in (5, 40, 1000) for shape in ("all", "boundary")),
    *(
        Board(5, size, 3, shape, graded=True)
        for size, shape in ((40, "all"), (40, "small"), (1000, "huge"), (1000, "mixed"))
    ),
    Board(5, 40, 10, "all"),
    Board(5, 40, 10, "boundary", graded=True),
    *(Board(40, size, 1, shape) for size in (5, 40, 1000) for shape in ("all", "huge")),
    *(Board(40, size, 4, shape, graded=True) for size in (40, 1000) for shape in ("all", "mixed")),
    Board(40, 20, 1, "mixed", rerankers=4),
    Board(40, 40, 10, "mixed"),
    *(Board(200, size, 1, "all") for size in (5, 40, 1000)),
    Board(200, 40, 4, "mixed", graded=True),
]
QUICK = [
    (Board(40, 500, 1, "all", rerankers=2), ("RR", "nDCG@10")),
    (Board(5, 40, 3, "mixed", graded=True), ("AP", "nDCG@10", "R@10")),
    (Board(2, 30, 6, "all", rerankers=2), ("RBP(0.8)",)),
    (Board(40, 20, 4, "all", graded=True, rerankers=2), ("DR@10",)),
    (Board(40, 5, 1, "all", rerankers=2), MEASURES),
    (Board(1, 1000, 4, "mixed", graded=True, rerankers=2), ("AP", "DR@10")),
    (Board(40, 1000, 1, "huge", rerankers=2), ("RBP(0.8)",)),
]
LIMIT = 0.01


def largest_errors(board, draws, measures=MEASURES):
    """(measure, kind) → the largest distance of what is said from the shares of draws, with the method."""
    errors, means = {}, board.drawn_means(draws)
    for with_targets in (False, True):
        runs = board.runs(targets=with_targets)
        rankings = {name: Ranking.of(runs, name) for name in runs.rerankers}
        for measure in measures:
            family = parse(measure).measure.family
            if family.targets != with_targets:
                continue
            study = OrderStability.of(evaluate(runs, [measure], SPREADS), measure, rankings)
            pairs, places, tau = order_shares(means[measure])
            names = list(runs.rerankers)
            for row in study.pairs.itertuples():
                i, j = names.index(row.reranker), names.index(row.other)
                shares = pairs[i, j] if i < j else pairs[j, i][::-1]
                chances = (row.above, row.equal, row.below)
                for kind, chance, share in zip(("above", "equal", "below"), chances, shares, strict=True):
                    keep_largest(errors, (measure, kind), abs(chance - share), row.method)
            distances = np.abs(study.ranks.loc[names].to_numpy() - places)
            keep_largest(
                errors, (measure, "place"), float(distances.max()), "-".join(sorted(set(study.places.methods)))
            )
            keep_largest(errors, (measure, "tau"), abs(study.tau - tau), "")
    return errors


def keep_largest(errors, key, error, method):
    errors[key] = max(errors.get(key, (0.0, method)), (error, method))


@pytest.mark.slow
@pytest.mark.parametrize("board", BOARDS, ids=str)
def test_every_chance_is_within_a_hundredth_of_two_hundred_thousand_tie_breakings(board, record_property):
    errors = largest_errors(board, 200_000)
    for (measure, kind), (error, method) in errors.items():
        record_property(f"{measure} {kind} {method}", round(error, 5))
    assert {key: error for key, error in errors.items() if error[0] > LIMIT} == {}


@pytest.mark.parametrize(("board", "measures"), QUICK, ids=str)
def test_every_chance_is_that_of_random_tie_breaking(board, measures):
    draws = 20_000
    noise = 4.5 * (0.25 / draws) ** 0.5  # of more than a hundred shares, none is so far off by chance
    errors = largest_errors(board, draws, measures)
    assert {key: error for key, error in errors.items() if error[0] > noise} == {}
