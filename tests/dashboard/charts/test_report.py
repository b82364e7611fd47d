from types import SimpleNamespace

from dashboard.charts.report import CHARTS
from dashboard.charts.targets import matrix_width


def test_a_matrix_of_targets_is_as_wide_in_a_report_as_its_columns_need():
    few, many = (CHARTS["passes"].min_width(SimpleNamespace(rerankers=range(n))) for n in (2, 200))
    assert few == matrix_width(2)
    assert many == matrix_width(200) > 480 > few
