"""What commands say of many rerankers stays short, and is written in time of its length."""

import pandas as pd

from metrics.cli import output


def test_messages_name_twenty_rerankers_and_count_the_others(call, write):
    rows = "".join(f"r{number},q,d{number},1,0\n" for number in range(25))
    path = write("many.csv", "reranker,query_id,doc_id,score,relevance\n" + rows)
    code, _, err = call("evaluate", path)
    lines = err.splitlines()
    assert code == 0
    assert lines[-2:] == [
        "r19: 1 of 1 query has nothing relevant, counted as 0.",
        "… and 5 more rerankers like these.",
    ]
    assert sum("nothing relevant" in line for line in lines) == 20


def test_each_cell_of_a_table_for_people_is_measured_once(monkeypatch, capsys):
    cells = []
    monkeypatch.setattr(output, "cell_len", lambda text: cells.append(text) or len(text))
    output.write_table(pd.DataFrame({"name": [str(number) for number in range(300)]}), "table", None)
    assert len(cells) == 301
    assert capsys.readouterr().out.startswith(" name \n 0    \n")
