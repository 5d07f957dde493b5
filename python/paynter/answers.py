"""What a model answers without a run: messages, strokes, equations, pictures."""

from __future__ import annotations

import os
from typing import Any

from . import _paynter


class Check:
    """What is wrong with a file; true if nothing is."""

    def __init__(self, text: str, messages: list[dict[str, Any]]) -> None:
        #: As the command line shows it.
        self.text = text
        #: Each with severity, code, message, primary (file, line, column), help.
        self.messages = messages

    def __bool__(self) -> bool:
        return not any(m.get("severity") == "error" for m in self.messages)

    def __repr__(self) -> str:
        return self.text.rstrip() or "no errors found"


class Causality:
    """Strokes, states and loops."""

    def __init__(self, design: _paynter.Design) -> None:
        self._design = design
        self.text, self.facts, self.conflicts = design.causality()

    text: str
    #: The whole report as plain objects.
    facts: dict[str, Any]
    #: Messages about the strokes; empty if they fit.
    conflicts: str

    @property
    def order(self) -> int:
        """Number of states."""
        return int(self.facts["order"])

    def why(self, name: str) -> str:
        """Why the bonds of an element, or a named bond, have their strokes."""
        return self._design.why(name)

    def steps(self) -> list[tuple[str, list[str]]]:
        """The assignment step by step: each decision, and what follows from it."""
        return self._design.steps()

    def alternatives(self, limit: int = 10) -> str:
        """Other assignments with as few dependent storages."""
        return self._design.alternatives(limit)

    def __repr__(self) -> str:
        return (self.text + self.conflicts).rstrip()


class Equations:
    """Equations, as text and as LaTeX; a notebook shows the latter."""

    def __init__(self, text: str, latex: str, json_text: str) -> None:
        self.text = text
        self.latex = latex
        self._json = json_text

    @property
    def facts(self) -> Any:
        """The equations as plain objects."""
        import json

        return json.loads(self._json)

    def __repr__(self) -> str:
        return self.text.rstrip()

    def _repr_latex_(self) -> str:
        return f"$${self.latex.strip()}$$"


class Picture:
    """A drawing; a notebook shows it."""

    def __init__(self, data: bytes, format: str) -> None:
        self.data = data
        self.format = format

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture to a file."""
        with open(path, "wb") as file:
            file.write(self.data)

    def __repr__(self) -> str:
        return f"<paynter.Picture {self.format}, {len(self.data)} bytes>"

    def _repr_svg_(self) -> str | None:
        return self.data.decode() if self.format == "svg" else None

    def _repr_png_(self) -> bytes | None:
        return self.data if self.format == "png" else None
