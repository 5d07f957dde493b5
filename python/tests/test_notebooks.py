"""The notebooks run, and print what they show."""

import pytest
from conftest import ROOT

BOOKS = sorted((ROOT / "python/notebooks").glob("*.ipynb"))


def printed(cell):
    """What a cell prints or shows as text; pictures have other bytes on other machines."""
    texts = []
    for output in cell.get("outputs", []):
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


def test_there_are_notebooks():
    assert len(BOOKS) >= 4
