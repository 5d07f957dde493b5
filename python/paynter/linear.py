"""Linear models: matrices with names, poles, responses, margins."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _paynter
from ._paynter import CallError

if TYPE_CHECKING:
    from .model import Model
    from .result import Columns


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

    def lqr(
        self,
        q: Sequence[float] | None = None,
        r: Sequence[float] | None = None,
        *,
        step: float | None = None,
    ) -> Gains:
        """Optimal feedback gains: weights of states and inputs; `step` in s for a sampled controller.

        Without `q` the outputs are weighted, each by one.
        """
        weights = _numbers("q", q), _numbers("r", r)
        return Gains(*self._linear.lqr(*weights, None if step is None else _number("step", step)))

    def place(self, poles: Sequence[complex] | str) -> Gains:
        """Feedback gains that give these poles, 1/s; complex ones in pairs.

        >>> from paynter import model
        >>> m = model("model M { s: Se(1) -> j: 1 -> r: R(2), i: I(4); output w = i.f }")
        >>> m.linearize(inputs="s.e").place([-3]).K.round(6)
        array([[2.5]])
        """
        given = _texts(poles) if isinstance(poles, str) else poles
        try:
            found = [complex(p) for p in given]
        except (TypeError, ValueError):
            raise TypeError(f"poles takes a list of numbers, not {poles!r}") from None
        if not np.all(np.isfinite(found)):
            raise CallError("a pole is not a finite number")
        return Gains(*self._linear.place([(p.real, p.imag) for p in found]))

    def c2d(
        self, step: float, method: str = "zoh", *, at_frequency: float | None = None
    ) -> SampledModel:
        """The model in steps of so many seconds: `zoh` holds inputs, `tustin` is the trapezoidal rule."""
        frequency = None if at_frequency is None else _number("at_frequency", at_frequency)
        return SampledModel(*self._linear.c2d(_number("step", step), method, frequency))

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


def _number(option: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{option} takes a number, not {value!r}") from None


def _numbers(option: str, values: Any) -> list[float] | None:
    if values is None:
        return None
    try:
        found = [float(v) for v in np.atleast_1d(values)]
    except (TypeError, ValueError):
        raise TypeError(f"{option} takes a list of numbers, not {values!r}") from None
    if not np.all(np.isfinite(found)):
        raise CallError(f"{option} has a number that is not finite")
    return found


def _texts(text: str) -> list[str]:
    parts = text.replace(" ", "").replace("i", "j").split(",")
    return [part for part in parts if part]


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
    """Margins of loops; `facts` has them as plain objects, a notebook shows gain and phase of the first."""

    def __init__(self, text: str, json_text: str, svg: str | None) -> None:
        super().__init__(text, json_text)
        self.svg = svg

    def _repr_svg_(self) -> str | None:
        return self.svg


class Methods(_Told):
    """One experiment under every treatment of its locks; `facts` has the figures of each method."""

    def __init__(self, text: str, json_text: str, errors: str) -> None:
        super().__init__(text, json_text)
        #: Why a method has no run, as the command line shows it.
        self.errors = errors

    def __getitem__(self, method: str) -> Any:
        for found in self.facts["methods"]:
            if found["method"] == method:
                return found
        known = ", ".join(found["method"] for found in self.facts["methods"])
        raise KeyError(f"there is no method {method!r}; there are {known}")


class Gains(_Told):
    """Feedback u = -K x around the operating point."""

    def __init__(self, text: str, json_text: str) -> None:
        super().__init__(text, json_text)
        n, m = len(self.facts["states"]), len(self.facts["inputs"])
        self.K = _matrix(self.facts["K"], m, n)
        #: Poles of the closed loop: 1/s, or of the map from step to step.
        self.poles = np.array([complex(*p) for p in self.facts["poles"]])


class SampledModel(_Told):
    """x(k+1) = A x(k) + B u(k), y(k) = C x(k) + D u(k)."""

    def __init__(self, text: str, json_text: str) -> None:
        super().__init__(text, json_text)
        n, m, p = (len(self.facts[key]) for key in ("states", "inputs", "outputs"))
        self.A = _matrix(self.facts["A"], n, n)
        self.B = _matrix(self.facts["B"], n, m)
        self.C = _matrix(self.facts["C"], p, n)
        self.D = _matrix(self.facts["D"], p, m)
        #: The step, s.
        self.step: float = self.facts["step"]


class Structure(_Told):
    """What the structure tells; `facts` has it as plain objects."""

    def __init__(
        self,
        text: str,
        json_text: str,
        warnings: str,
        table: Columns | None = None,
        model: Model | None = None,
    ) -> None:
        super().__init__(text, json_text)
        self.warnings = warnings
        #: Balances on data, or needed inputs; None for other questions.
        self.table = table
        #: The smaller model; None for other questions.
        self.model = model


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
