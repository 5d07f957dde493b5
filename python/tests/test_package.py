"""The package as a whole: doc strings, stubs, notebooks' pictures."""

import doctest
import importlib
import inspect

import paynter
import pytest
from conftest import RC

MODULES = ["", ".matrices", ".answers", "._options", ".model", ".build", ".result", ".linear", ".search", ".export", ".progress", ".cluster", "._values"]


@pytest.mark.parametrize("module", MODULES)
def test_examples_of_doc_strings_give_what_they_say(module):
    tested = importlib.import_module("paynter" + module)
    failed, n = doctest.testmod(tested, optionflags=doctest.ELLIPSIS)
    assert failed == 0
    if module in ("", ".model", ".build", "._values"):
        assert n > 0


def test_everything_public_has_a_doc_string():
    for name in paynter.__all__:
        thing = getattr(paynter, name)
        if name.startswith("__"):
            continue
        assert inspect.getdoc(thing), name
        if inspect.isclass(thing) and thing.__module__.startswith("paynter."):
            for member, value in vars(thing).items():
                if callable(value) and not member.startswith("_"):
                    assert inspect.getdoc(value), f"{name}.{member}"


def test_sliders_run_live():
    pytest.importorskip("anywidget")
    view = paynter.model(RC).explore("charge", R1=("100 [ohm]", 2000))
    assert view.ranges == {"R1": [100.0, 2000.0]} and view.values == {"R1": 1000.0}
    before = view.picture
    assert "<svg" in before
    view.values = {"R1": 200.0}
    assert view.picture != before and view.result["v"][-1] > 4.9999
    with pytest.raises(paynter.CallError, match="two ends"):
        paynter.model(RC).explore(R1=3)
    with pytest.raises(paynter.CallError, match="empty"):
        paynter.model(RC).explore(R1=(2, 1))
    with pytest.raises(paynter.PaynterError):
        paynter.model(RC).explore(nobody=(1, 2))
