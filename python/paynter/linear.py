"""Linear models: matrices with names, poles, responses, margins."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import _paynter
from ._paynter import CallError


class LinearModel:
    """x' = A x + B u, y = C x + D u, with the names and units of states, inputs and outputs.

    Outputs that follow rates of inputs have further gains in `rate_gains`: y = … + D1 u' + D2 u'' …
    """

    def __init__(self, linear: _paynter.Linear) -> None:
        self._linear = linear
        #: Everything as plain objects: names, units, values at the operating point, notes.
        self.facts: dict[str, Any] = json.loads(linear.json)
        n, m, p = (len(self.facts[key]) for key in ("states", "inputs", "outputs"))
        self.A = _matrix(self.facts["A"], n, n)
        self.B = _matrix(self.facts["B"], n, m)
        self.C = _matrix(self.facts["C"], p, n)
        self.D = _matrix(self.facts["D"], p, m)
        self.rate_gains = [_matrix(d, p, m) for d in self.facts["D_rates"]]
        #: What is to be known about it, as the command line shows it.
        self.warnings: str = linear.warnings

    @property
    def states(self) -> list[str]:
        """Names of the states."""
        return [label["name"] for label in self.facts["states"]]

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs."""
        return [label["name"] for label in self.facts["inputs"]]

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
        return [label["name"] for label in self.facts["outputs"]]

    @property
    def units(self) -> dict[str, str]:
        """Units of states, inputs and outputs by name; empty for SI or a plain number."""
        labels = self.facts["states"] + self.facts["inputs"] + self.facts["outputs"]
        return {label["name"]: label["unit"] for label in labels}

    def poles(self) -> Poles:
        """Poles, modes and zeros."""
        return Poles(*self._linear.poles())

    def bode(self, low: float | None = None, high: float | None = None) -> Bode:
        """Frequency responses of all channels between two frequencies in rad/s."""
        if (low is None) != (high is None):
            raise CallError("give both low and high, or neither")
        range = None if low is None or high is None else (float(low), float(high))
        return Bode(*self._linear.bode(range))

    def step(self, duration: float | None = None) -> StepResponse:
        """Step responses of all channels, over a time in s where one is given."""
        horizon = None if duration is None else float(duration)
        return StepResponse(*self._linear.step(horizon))

    def to_control(self) -> Any:
        """The same as a `control.StateSpace`; needs python-control."""
        if self.rate_gains:
            raise CallError("outputs that follow rates of inputs have no state-space form")
        try:
            import control
        except ImportError:
            raise CallError("python-control is not installed: pip install control") from None
        return control.StateSpace(
            self.A,
            self.B,
            self.C,
            self.D,
            # python-control uses dots for signals of subsystems.
            states=[n.replace(".", "_") for n in self.states],
            inputs=[n.replace(".", "_") for n in self.inputs],
            outputs=[n.replace(".", "_") for n in self.outputs],
            remove_useless_states=False,
        )

    def __repr__(self) -> str:
        return self._linear.text.rstrip()

    def _repr_latex_(self) -> str:
        parts = [("A", self.A), ("B", self.B), ("C", self.C), ("D", self.D)]
        return "$$" + r",\quad ".join(f"{n} = {_latex(m)}" for n, m in parts) + "$$"


def _matrix(rows: Any, n: int, m: int) -> np.ndarray:
    return np.array(rows, dtype=float).reshape(n, m)


def _latex(matrix: np.ndarray) -> str:
    rows = (" & ".join(f"{x:.5g}" for x in row) for row in matrix)
    return r"\begin{bmatrix}" + r" \\ ".join(rows) + r"\end{bmatrix}"


class _Told:
    """A text for reading, and the same as plain objects."""

    def __init__(self, text: str, json_text: str) -> None:
        self.text = text
        self.facts: Any = json.loads(json_text)

    def __repr__(self) -> str:
        return self.text.rstrip()


class Poles(_Told):
    """Poles, modes and zeros; `facts` has them as plain objects."""


class Margins(_Told):
    """Margins of loops; `facts` has them as plain objects."""


class Structure(_Told):
    """Controllability and observability; `facts` has them as plain objects."""

    def __init__(self, text: str, json_text: str, warnings: str) -> None:
        super().__init__(text, json_text)
        self.warnings = warnings


class Bode(_Told):
    """Frequency responses; a notebook shows the curves."""

    def __init__(self, text: str, json_text: str, svg: str) -> None:
        super().__init__(text, json_text)
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg


class StepResponse(_Told):
    """Step responses; a notebook shows the curves."""

    def __init__(self, text: str, json_text: str, svg: str, table: _paynter.Table) -> None:
        super().__init__(text, json_text)
        self.svg = svg
        #: Times in s.
        self.time = np.asarray(table.time)
        #: The curves by name.
        self.curves = {name: np.asarray(values) for name, _, values in table.columns}

    def _repr_svg_(self) -> str:
        return self.svg
