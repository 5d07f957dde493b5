"""Bond graphs built in Python: what is built is written as a text, and the text is the model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ._paynter import CallError
from ._values import Value, value_text
from .model import Model, model

_NAME = re.compile(r"[^\W\d]\w*\Z")
#: A name, or a path of names with indices: `arm[2].p`.
_PATH = re.compile(r"[^\W\d]\w*(\[\d+\])?(\.[^\W\d]\w*(\[\d+\])?)*\Z")


class Part:
    """An element, junction or submodel of a graph; a port of it is an attribute or an item.

    ``motor.shaft`` and ``motor["shaft"]`` are the same port; the latter also for names such as ``name``.
    """

    def __init__(self, graph: Graph, path: str) -> None:
        self._graph = graph
        self._path = path

    @property
    def name(self) -> str:
        """Its name in the text."""
        return self._path

    def __getattr__(self, port: str) -> Part:
        if port.startswith("_"):
            raise AttributeError(port)
        return self[port]

    def __getitem__(self, port: str) -> Part:
        path = f"{self._path}.{port}"
        if not isinstance(port, str) or not _PATH.match(path):
            raise CallError(f"{port!r} is not the name of a port")
        return Part(self._graph, path)

    def __rshift__(self, other: Part | Sequence[Part]) -> Any:
        """``a >> b`` draws a bond from a to b; ``a >> [b, c]`` one to each."""
        if not isinstance(other, (Part, str)) and isinstance(other, (list, tuple)):
            for part in other:
                self._graph.bond(self, part)
            return self
        self._graph.bond(self, other)  # type: ignore[arg-type]
        return other

    def __repr__(self) -> str:
        return f"<paynter.Part {self._path}>"


class Graph:
    """A model under construction.

    >>> g = Graph("RC", doc="A capacitor charged through resistors")
    >>> supply = g.add("supply", "Se", "5 [V]")
    >>> loop = g.junction("loop", 1)
    >>> _ = supply >> loop
    >>> for k, ohms in enumerate([100, 200]):
    ...     _ = loop >> g.add(f"r{k}", "R", f"{ohms} [ohm]")
    >>> _ = loop >> g.add("c", "C", "1 [mF]")
    >>> print(g.text())
    /// A capacitor charged through resistors
    model RC {
        supply: Se(5 [V])
        loop: 1
        supply -> loop
        r0: R(100 [ohm])
        loop -> r0
        r1: R(200 [ohm])
        loop -> r1
        c: C(1 [mF])
        loop -> c
    }
    <BLANKLINE>
    >>> g.model().causality().order
    1
    """

    def __init__(self, name: str, *, doc: str = "") -> None:
        self.name = _checked(name, "a model")
        self._doc = doc
        self._uses: list[str] = []
        self._lines: list[str] = []
        self._names: set[str] = set()
        self._models: dict[str, str] = {}
        self._experiments: list[str] = []

    def use(self, library: str, *names: str) -> None:
        """Takes parts from a library: ``g.use("electrical", "Resistor")``."""
        listed = f": {', '.join(names)}" if names else ""
        line = f"use {library}{listed}"
        if line not in self._uses:
            self._uses.append(line)

    def include(self, other: Graph) -> None:
        """Makes another graph a submodel that `add` can place."""
        self._uses.extend(u for u in other._uses if u not in self._uses)
        for name, body in {**other._models, other.name: other._body()}.items():
            if self._models.get(name, body) != body or name == self.name:
                raise CallError(f"there are two different models called {name!r}")
            self._models[name] = body

    def param(self, name: str, value: Value, unit: str = "") -> str:
        """Declares a parameter and gives its name, for use in values."""
        self._claim(name)
        self._lines.append(f"param {name} = {_valued(value, unit)}")
        return name

    def input(self, name: str, value: Value = 0, unit: str = "") -> str:
        """Declares an input and gives its name."""
        self._claim(name)
        self._lines.append(f"input {name} = {_valued(value, unit)}")
        return name

    def output(self, name: str, value: str, unit: str = "") -> None:
        """Declares an output: ``g.output("v", "c.e", "V")``."""
        self._claim(name)
        shown = f" [{unit}]" if unit else ""
        self._lines.append(f"output {name}{shown} = {value}")

    def signal(self, line: str) -> None:
        """Adds a line with `=` as it is: ``g.signal("der(x) = cart.f")``."""
        self._lines.append(line)

    def port(self, name: str, kind: str, inside: Part | str) -> None:
        """Declares a port of a domain that leads to a part inside: ``g.port("p", "electrical", node)``."""
        self._claim(name)
        self._lines.append(f"port {name}: {kind} = {_path(inside)}")

    def add(
        self,
        name: str,
        kind: str,
        value: Value | None = None,
        *,
        law: str | None = None,
        values: Mapping[str, Value] | None = None,
    ) -> Part:
        """Adds an element or a submodel.

        The value stands in parentheses, a law in braces, values of a submodel by name:
        ``g.add("m", "Motor", values={"R": "2 [ohm]"})``.
        """
        if not isinstance(kind, str):
            raise TypeError(f"the kind of an element is a text, not {kind!r}")
        inside = [] if value is None else [value_text(value)]
        inside += [f"{key} = {value_text(v)}" for key, v in (values or {}).items()]
        self._claim(name)
        text = f"{name}: {kind}"
        # A submodel is placed with parentheses even if it takes no values.
        if inside or kind in self._models:
            text += f"({', '.join(inside)})"
        if law:
            text += f" {{ {law} }}"
        self._lines.append(text)
        return Part(self, name)

    def junction(self, name: str, kind: int) -> Part:
        """Adds a 0- or 1-junction."""
        if isinstance(kind, bool) or kind not in (0, 1):
            raise CallError(f"a junction is 0 or 1, not {kind!r}")
        return self.add(name, str(kind))

    def bond(self, tail: Part | str, head: Part | str, name: str | None = None) -> None:
        """Draws a bond; power counts as positive from tail to head."""
        for end in (tail, head):
            if isinstance(end, Part) and end._graph is not self:
                raise CallError(f"{end.name!r} is a part of another graph")
        arrow = "->"
        if name is not None:
            self._claim(name)
            arrow = f"-{name}->"
        self._lines.append(f"{_path(tail)} {arrow} {_path(head)}")

    def experiment(self, name: str, **settings: Any) -> None:
        """Adds an experiment: ``g.experiment("step", stop="1 [s]", record="v")``.

        `record`, `plot`, `measure`, `start`, `with_`, `sweep`, … are lines of their own, one or a list;
        others are settings.
        """
        _checked(name, "an experiment")
        words = {"record", "plot", "measure", "start", "guess", "with", "sweep"}
        words |= {"compare", "linearize", "trim"}
        lines: list[str] = []
        for key, value in settings.items():
            key = key.rstrip("_")
            if key in words:
                many = value if isinstance(value, (list, tuple)) else [value]
                lines.extend(f"    {key} {v}" for v in many)
            else:
                lines.append(f"    {key} = {value_text(value)}")
        body = "\n".join(lines)
        self._experiments.append(f"experiment {name} of {self.name} {{\n{body}\n}}")

    def text(self) -> str:
        """The `.bond` text of the graph."""
        parts = ["\n".join(self._uses)] if self._uses else []
        parts += [*self._models.values(), self._body(), *self._experiments]
        return "\n\n".join(parts) + "\n"

    def model(self) -> Model:
        """The graph as a model."""
        return model(self.text(), name=f"{self.name}.bond")

    def _repr_svg_(self) -> str:
        return self.model()._repr_svg_()

    def _body(self) -> str:
        doc = "".join(f"/// {line}\n" for line in self._doc.splitlines())
        lines = "\n".join(f"    {line}" for line in self._lines)
        return f"{doc}model {self.name} {{\n{lines}\n}}"

    def _claim(self, name: str) -> None:
        _checked(name, "a thing")
        if name in self._names:
            raise CallError(f"{name!r} already exists")
        self._names.add(name)


def _checked(name: Any, what: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the name of {what} is a text, not {name!r}")
    if not _NAME.match(name):
        raise CallError(f"{name!r} cannot be the name of {what}; use letters, digits and `_`")
    return name


def _path(part: Part | str) -> str:
    path = part.name if isinstance(part, Part) else part
    if not isinstance(path, str):
        raise TypeError(f"a bond joins parts of the graph, not {part!r}")
    if not _PATH.match(path):
        raise CallError(f"{path!r} is not the name of a part")
    return path


def _valued(value: Value, unit: str) -> str:
    text = value_text(value)
    return f"{text} [{unit}]" if unit else text
