"""The notebooks run, and print what they show."""

import pytest
from conftest import ROOT

BOOKS = sorted((ROOT / "python/notebooks").glob("*.ipynb"))


def printed(cell):
    """What a cell prints or shows as text; pictures have other bytes on other machines."""
    texts = []
    for output in cell.get("outputs", []):
        if output.get("metadata", {}).get("paynter") == "progress":
            continue  # shown on slow machines
        if output["output_type"] == "stream" and output["name"] == "stdout":
            texts.append(output["text"])
        elif "data" in output:
            texts.append(output["data"].get("text/plain", ""))
            texts.append(" ".join(sorted(output["data"])))
    return "".join(texts)


@pytest.mark.parametrize("path", BOOKS, ids=lambda p: p.stem)
def test_a_notebook_prints_what_it_shows(path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("distributed")
    kept = nbformat.read(path, as_version=4)
    again = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(again, timeout=240, kernel_name="python3").execute()
    shown = [printed(cell) for cell in kept.cells]
    assert any(shown)
    assert [printed(cell) for cell in again.cells] == shown


def test_there_are_five_notebooks():
    assert len(BOOKS) >= 5


LONG_CELL = """
import paynter
m = paynter.model('''model M { s: Se(sin(1000*time)) -> j: 1 -> i: I(1), c: C(1), r: R(1) }
experiment go of M { stop = 40; output_step = 1; record i.f; max_step = 1e-5; max_steps = 1000000000 }''')
result = m.run()
"""


def test_long_work_in_a_notebook_shows_a_bar():
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(LONG_CELL)])
    seen = []

    class Client(nbclient.NotebookClient):
        def process_message(self, message, cell, index):
            if message["msg_type"] in ("display_data", "update_display_data"):
                seen.append(message["content"]["data"]["text/html"])
            return super().process_message(message, cell, index)

    Client(book, timeout=240, kernel_name="python3").execute()
    assert any("<progress" in page and "%" in page for page in seen)
    # The bar is gone when the work is done.
    assert seen[-1] == ""
