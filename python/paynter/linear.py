"""Linear models: matrices with names, poles, responses, margins, controllers and observers."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _paynter
from ._paynter import CallError
from .result import Plot, write_text

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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the matrices: .csv or .json."""
        write_text(path, self._linear.csv, self._linear.json)

    def poles(self) -> Poles:
        """Poles, modes and zeros."""
        return Poles(*self._linear.poles())

    def transfer_functions(self) -> Transfers:
        """The transfer function of every channel: numerator and denominator, gain, zeros and poles.

        >>> from paynter import model
        >>> m = model("model M { s: Se(1) -> j: 1 -> r: R(2), i: I(4); output w = i.f }")
        >>> m.linearize(inputs="s.e", outputs="w").transfer_functions()["w from s.e"]
        (array([0.25]), array([1. , 0.5]))
        """
        return Transfers(*self._linear.transfers())

    def bode(
        self,
        low: float | None = None,
        high: float | None = None,
        *,
        also: Mapping[str, LinearModel] | None = None,
    ) -> Bode:
        """Frequency responses of all channels between two frequencies in rad/s, beside those of other models by name."""
        if (low is None) != (high is None):
            raise CallError("give both low and high, or neither")
        range = None if low is None or high is None else (_number("low", low), _number("high", high))
        others = []
        for name, other in (also or {}).items():
            if not isinstance(other, LinearModel):
                raise TypeError(f"also takes linear models by name, not {other!r}")
            others.append((name, other._linear))
        return Bode(*self._linear.bode(range, others))

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

    def lqi(
        self,
        q: Sequence[float] | None = None,
        r: Sequence[float] | None = None,
        *,
        step: float | None = None,
    ) -> Gains:
        """As `lqr`, with integrals of what the outputs miss: no steady error. The gains of the integrals come last."""
        weights = _numbers("q", q), _numbers("r", r)
        return Gains(*self._linear.lqi(*weights, None if step is None else _number("step", step)))

    def lqe(
        self,
        q: Sequence[float] | None = None,
        r: Sequence[float] | None = None,
        *,
        step: float | None = None,
    ) -> Observer:
        """A Kalman filter: intensities of the noise at inputs (`q`) and outputs (`r`), one unless given.

        With `step` in s the outputs are sampled, and `r` has their variances.

        >>> from paynter import model
        >>> m = model("model M { s: Se(1) -> j: 1 -> i: I(1); output w = i.f }")
        >>> m.linearize(inputs="s.e", outputs="w").lqe(q=[4], r=[1]).L.round(9)     # L = sqrt(q/r)
        array([[2.]])
        """
        noise = _numbers("q", q), _numbers("r", r)
        return Observer(*self._linear.lqe(*noise, None if step is None else _number("step", step)))

    def lyap(self, q: Sequence[float] | None = None) -> Spread:
        """How far noise of intensities `q` at the inputs moves states and outputs.

        >>> from paynter import model
        >>> m = model("model M { s: Se(1) -> j: 1 -> r: R(2), i: I(1); output w = i.f }")
        >>> m.linearize(inputs="s.e", outputs="w").lyap(q=[4]).covariance.round(9)  # q/(2 R)
        array([[1.]])
        """
        return Spread(*self._linear.lyap(_numbers("q", q)))

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
        """The model in steps of so many seconds: `zoh` holds inputs, `tustin` is the trapezoidal rule.

        `at_frequency` in rad/s is where `tustin` is exact. Poles and zeros at their places: `matched`.
        """
        frequency = None if at_frequency is None else _number("at_frequency", at_frequency)
        return SampledModel(*self._linear.c2d(_number("step", step), method, frequency))

    def matched(self, step: float) -> Transfers:
        """Transfer functions in steps of so many seconds, with poles and zeros at their places."""
        return Transfers(*self._linear.matched(_number("step", step)))

    def d2c(self, method: str = "zoh") -> StateSpace:
        """The continuous model behind a loop through sampled blocks: `zoh` is the logarithm, `tustin` the trapezoidal rule."""
        return StateSpace(*self._linear.d2c(method))

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

    def __init__(self, text: str, json_text: str, svg: str) -> None:
        super().__init__(text, json_text)
        self.svg = svg

    def plot(self) -> Plot:
        """Where poles and zeros lie."""
        return Plot(self.svg)


class Transfers(_Told):
    """Transfer functions: ``found["w from s.e"]`` has numerator and denominator, highest power first."""

    @property
    def names(self) -> list[str]:
        """The channels."""
        return [found["name"] for found in self.facts["channels"]]

    def __getitem__(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        for found in self.facts["channels"]:
            if found["name"] == name:
                return np.array(found["numerator"], dtype=float), np.array(found["denominator"], dtype=float)
        raise KeyError(f"there is no channel {name!r}; there are {', '.join(self.names)}")


class Locus(_Told):
    """The ways of poles: `branches` has one row for each pole, along the factors in `gains`."""

    def __init__(self, text: str, json_text: str, svg: str, warnings: str) -> None:
        super().__init__(text, json_text)
        self.svg = svg
        #: What is to be known about it, as the command line shows it.
        self.warnings = warnings
        #: Factors on the gain of the loop.
        self.gains = np.array(self.facts["gains"], dtype=float)
        #: Poles, one row each.
        self.branches = np.array([[complex(*p) for p in b] for b in self.facts["branches"]])

    def plot(self) -> Plot:
        """The ways of the poles as a picture."""
        return Plot(self.svg)

    def _repr_svg_(self) -> str:
        return self.svg


class Margins(_Told):
    """Margins of loops; `facts` has them as plain objects, a notebook shows gain and phase of the first."""

    def __init__(self, text: str, json_text: str, pictures: list[str] | None) -> None:
        super().__init__(text, json_text)
        self._pictures = pictures
        self.svg = None if pictures is None else pictures[0]

    def _picture(self, k: int) -> Plot:
        if self._pictures is None:
            raise CallError("there is no loop to draw")
        return Plot(self._pictures[k])

    def plot(self) -> Plot:
        """Gain and phase of the first loop."""
        return self._picture(0)

    def nyquist(self) -> Plot:
        """The first loop in the complex plane."""
        return self._picture(1)

    def nichols(self) -> Plot:
        """Gain over phase of the first loop."""
        return self._picture(2)

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
        #: Outputs whose integrals are fed back beside the states.
        self.integrals: list[str] = self.facts["integrals"]
        self.K = _matrix(self.facts["K"], m, n + len(self.integrals))
        #: Poles of the closed loop: 1/s, or of the map from step to step.
        self.poles = np.array([complex(*p) for p in self.facts["poles"]])


class Observer(_Told):
    """A Kalman filter: x' = A x + B u + L (y - C x - D u), or the correction L at each sample."""

    def __init__(self, text: str, json_text: str) -> None:
        super().__init__(text, json_text)
        n, p = len(self.facts["states"]), len(self.facts["outputs"])
        self.L = _matrix(self.facts["L"], n, p)
        #: Poles of the error.
        self.poles = np.array([complex(*p) for p in self.facts["poles"]])
        #: Covariance of the error of the states; before each sample where there are samples.
        self.covariance = _matrix(self.facts["covariance"], n, n)


class Spread(_Told):
    """How far noise moves a model."""

    def __init__(self, text: str, json_text: str) -> None:
        super().__init__(text, json_text)
        n = len(self.facts["states"])
        #: Covariance of the states.
        self.covariance = _matrix(self.facts["covariance"], n, n)
        names = [label["name"] for label in self.facts["outputs"]]
        #: Standard deviations of the outputs.
        self.deviations: dict[str, float] = dict(zip(names, self.facts["deviations"], strict=True))


class StateSpace(_Told):
    """x' = A x + B u, y = C x + D u."""

    def __init__(self, text: str, json_text: str) -> None:
        super().__init__(text, json_text)
        n, m, p = (len(self.facts[key]) for key in ("states", "inputs", "outputs"))
        self.A = _matrix(self.facts["A"], n, n)
        self.B = _matrix(self.facts["B"], n, m)
        self.C = _matrix(self.facts["C"], p, n)
        self.D = _matrix(self.facts["D"], p, m)
        #: The step, s: of the model, or of the one in steps that it stands behind.
        self.step: float = self.facts["step"]


class SampledModel(StateSpace):
    """x(k+1) = A x(k) + B u(k), y(k) = C x(k) + D u(k)."""


class Structure(_Told):
    """What the structure tells; `facts` has it as plain objects."""

    def __init__(
        self,
        text: str,
        json_text: str,
        warnings: str,
        table: Columns | None = None,
        model: Model | None = None,
        svg: str | None = None,
    ) -> None:
        super().__init__(text, json_text)
        self.warnings = warnings
        #: The answer drawn on the bond graph; None for questions without a picture.
        self.svg = svg
        #: Balances on data, or needed inputs; None for other questions.
        self.table = table
        #: The smaller model; None for other questions.
        self.model = model

    def plot(self) -> Plot:
        """The answer drawn on the bond graph: what is out of reach, activities, or bicausal bonds."""
        if self.svg is None:
            raise CallError("this question has no picture")
        return Plot(self.svg)


class Bode(_Told):
    """Frequency responses; a notebook shows the curves."""

    def __init__(self, text: str, json_text: str, svg: str, csv: str) -> None:
        super().__init__(text, json_text)
        self.svg = svg
        self._forms = csv, json_text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the curves: .csv or .json."""
        write_text(path, *self._forms)

    def plot(self) -> Plot:
        """Gain and phase as a picture."""
        return Plot(self.svg)

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
        self._table = table

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the curves: .csv, .parquet or .json."""
        self._table.write(os.fsdecode(path))

    def plot(self) -> Plot:
        """The curves as a picture."""
        return Plot(self.svg)

    def _repr_svg_(self) -> str:
        return self.svg
