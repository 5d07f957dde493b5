"""Sliders that run a model live in a notebook; needs anywidget.

The page sends values, Python runs the experiment and sends back the curves as SVG. Only the newest
values are run: what comes while a run is under way waits, and older ones are dropped.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._paynter import CallError, PaynterError
from ._values import value_text

try:
    import anywidget
    import traitlets
except ImportError:
    raise CallError("sliders need anywidget: pip install anywidget") from None

if TYPE_CHECKING:
    from .model import Model

_PAGE = """
function render({ model, el }) {
  el.style.maxWidth = "720px";
  const names = Object.keys(model.get("ranges"));
  const picture = document.createElement("div");
  for (const name of names) {
    const [low, high] = model.get("ranges")[name];
    const row = document.createElement("label");
    row.style.cssText = "display:flex;gap:8px;align-items:center";
    const slider = document.createElement("input");
    slider.type = "range"; slider.min = low; slider.max = high; slider.step = (high - low) / 200;
    slider.value = model.get("values")[name]; slider.style.flex = "1";
    const shown = document.createElement("code");
    shown.textContent = Number(slider.value).toPrecision(4);
    slider.addEventListener("input", () => {
      shown.textContent = Number(slider.value).toPrecision(4);
      model.set("values", { ...model.get("values"), [name]: Number(slider.value) });
      model.save_changes();
    });
    const label = document.createElement("span");
    label.textContent = name;
    row.append(label, slider, shown);
    el.append(row);
  }
  const draw = () => { picture.innerHTML = model.get("picture"); };
  model.on("change:picture", draw);
  draw();
  el.append(picture);
}
export default { render };
"""


class Explorer(anywidget.AnyWidget):
    """Sliders for parameters, and the curves of a run with their values."""

    _esm = _PAGE
    ranges = traitlets.Dict().tag(sync=True)
    values = traitlets.Dict().tag(sync=True)
    picture = traitlets.Unicode().tag(sync=True)

    def __init__(self, model: Model, experiment: str | None, ranges: Mapping[str, Any]) -> None:
        if not ranges:
            raise CallError("name at least one parameter with its range: explore(R1=(10, 1000))")
        limits = {name: _limits(model, name, ends) for name, ends in ranges.items()}
        present = model.parameters
        values = {}
        for name, (low, high) in limits.items():
            values[name] = min(max(present[name], low), high)
        self._model, self._experiment = model, experiment
        #: The result of the newest run that went well.
        self.result: Any = None
        super().__init__(ranges={n: list(r) for n, r in limits.items()}, values=values)
        self._run(None)
        self.observe(self._run, names="values")

    def _run(self, _change: Any) -> None:
        try:
            self.result = self._model.set(self.values).run(self._experiment)
            self.picture = self.result._repr_html_()
        except PaynterError as error:
            self.picture = f"<pre>{html.escape(str(error))}</pre>"


def _limits(model: Model, name: str, ends: Any) -> tuple[float, float]:
    try:
        low, high = ends
    except (TypeError, ValueError):
        raise CallError(f"the range of {name!r} has two ends: {name}=(low, high)") from None
    # Through the engine, so that texts with units mean what they mean elsewhere.
    found = [model.set({name: value_text(end)}).parameters.get(name) for end in (low, high)]
    if None in found:
        raise CallError(f"there is no parameter {name!r}")
    first, last = float(found[0]), float(found[1])  # type: ignore[arg-type]
    if not first < last:
        raise CallError(f"the range of {name!r} is empty: {low} to {high}")
    return first, last
