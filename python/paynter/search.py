"""What searches find: the best values of an `optimize`, trade-offs, the parameters of a `fit`; what parameters do to a run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _paynter
from .result import Columns, Plot

if TYPE_CHECKING:
    from .model import Model


class _Found:
    """A text for reading, the same as plain objects, and a table of everything tried."""

    def __init__(self, found: _paynter.Found, model: Model) -> None:
        self._found = found
        self._model = model
        #: As the command line shows it.
        self.text = found.text
        #: Everything as plain objects.
        self.facts: dict[str, Any] = json.loads(found.json)
        #: What is to be known about it, as the command line shows it.
        self.warnings = found.warnings

    @property
    def values(self) -> dict[str, Any]:
        """The found values by name, in their own units (see `units`)."""
        return {v["name"]: v["value"] for v in self.facts["values"]}

    @property
    def units(self) -> dict[str, str]:
        """Units of the values; empty for a plain number."""
        return {v["name"]: v["unit"] for v in self.facts["values"]}

    def __repr__(self) -> str:
        return self.text.rstrip()


class Optimum(_Found):
    """The values that make a measure smallest or largest."""

    @property
    def is_feasible(self) -> bool:
        """All conditions hold."""
        return bool(self.facts["is_feasible"])

    @property
    def aim(self) -> float | None:
        """The aim at the best point, in its unit."""
        aim = self.facts["aim"]
        return None if aim is None else aim["value"]

    @property
    def measures(self) -> dict[str, float | None]:
        """Measures at the best point, in their own units."""
        return {m["name"]: m["value"] for m in self.facts["measures"]}

    @property
    def conditions(self) -> list[dict[str, Any]]:
        """Each with its text, value, slack, and its price where it limits the aim."""
        return list(self.facts["conditions"])

    @property
    def trials(self) -> Columns:
        """Every trial, one row each."""
        return Columns(self._found.table)

    def model(self) -> Model:
        """The model with the found values."""
        return self._model.set({v["name"]: v["text"] for v in self.facts["values"]})

    def written(self, name: str | None = None) -> Model:
        """The model whose text has the found values as an experiment of its own; NAME_best unless named."""
        name = name if name is not None else f"{self.facts['experiment']}_best"
        if not isinstance(name, str) or not name.isidentifier():
            raise _paynter.CallError(f"{name!r} is not a name for an experiment")
        text = self._found.written(self._model.text(), name)
        # A value that was set before would stand in the way of the one that was found.
        return self._model._with_text(text, without=self.values)


class Fit(_Found):
    """Parameters from measured data, with intervals."""

    @property
    def deviations(self) -> dict[str, float | None]:
        """Standard deviations in the units of the values; None where the data do not fix them."""
        return {v["name"]: v["deviation"] for v in self.facts["values"]}

    @property
    def intervals(self) -> dict[str, tuple[float, float] | None]:
        """Intervals that hold the true value in 95 of 100 such experiments."""
        found = ((v["name"], v["interval"]) for v in self.facts["values"])
        return {name: None if ends is None else (ends[0], ends[1]) for name, ends in found}

    @property
    def correlations(self) -> np.ndarray:
        """Correlations between the values; empty where the data do not fix them all."""
        return np.array(self.facts["correlations"], dtype=float)

    @property
    def samples(self) -> Columns:
        """Data, model and residual, one row for each sample."""
        return Columns(self._found.table)

    def model(self) -> Model:
        """The model with the fitted values."""
        values = self.facts["values"]
        return self._model.set(
            {v["name"]: f"{v['value']!r} [{v['unit']}]" if v["unit"] else v["value"] for v in values}
        )


class _Drawn(Columns):
    """Columns with a text for reading and a picture of their own."""

    def __init__(self, text: str, json_text: str, svg: str, table: _paynter.Table) -> None:
        super().__init__(table)
        #: As the command line shows it.
        self.text = text
        #: Everything as plain objects.
        self.facts: dict[str, Any] = json.loads(json_text)
        #: The picture.
        self.svg = svg

    def plot(self, *columns: str, **options: Any) -> Plot:
        """The picture; with names of columns those, as a result draws them."""
        return super().plot(*columns, **options) if columns or options else Plot(self.svg)

    def __repr__(self) -> str:
        return self.text.rstrip()

    def _repr_svg_(self) -> str:
        return self.svg


class TradeOff(_Drawn):
    """What one aim costs in terms of another: one row for each point of the curve, aims and values by name.

    The picture is that curve, the second aim over the first.
    """


class Sensitivities(_Drawn):
    """Quantities over time, and their derivatives: the column ``"d(w)/d(R1)"`` is that of w by R1.

    The text is their ranking; the picture shows what 1 % of each parameter does.
    """


class Screening:
    """Which parameters count: ``found["end"]`` has the parameters of that measure."""

    def __init__(self, text: str, json_text: str, n_runs: int, n_failed: int) -> None:
        #: As the command line shows it.
        self.text = text
        #: Everything as plain objects.
        self.facts: dict[str, Any] = json.loads(json_text)
        #: Number of runs.
        self.n_runs = n_runs
        #: Number of runs that failed.
        self.n_failed = n_failed

    def __getitem__(self, measure: str) -> Any:
        for found in self.facts["measures"]:
            if found["name"] == measure:
                return found["parameters"]
        known = ", ".join(found["name"] for found in self.facts["measures"])
        raise KeyError(f"there is no measure {measure!r}; there are {known}")

    def __repr__(self) -> str:
        return self.text.rstrip()
