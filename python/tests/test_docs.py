"""What the book and the READMEs show in Python works as written."""

import re

import pytest
from conftest import ROOT

PAGES = ["README.md", "python/README.md", "docs/src/python.md"]


@pytest.mark.parametrize("page", PAGES)
def test_python_blocks_run(page, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)  # noqa: S102
