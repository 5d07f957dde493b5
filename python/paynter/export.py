"""Models for other programs and from them: FMUs, C code, URDF; models written anew, the bond graph of a Lagrangian."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .model import Model


class Exported:
    """Files that were written; stands for the first of them wherever a path is wanted."""

    def __init__(self, files: list[str], warnings: str, platform: str | None = None) -> None:
        #: Paths of the files.
        self.files = files
        #: What is to be known about them, as the command line shows it.
        self.warnings = warnings
        #: The platform of an FMU's binary; None if it has sources only.
        self.platform = platform

    def __fspath__(self) -> str:
        return self.files[0]

    def __repr__(self) -> str:
        return f"<paynter.Exported {', '.join(os.path.basename(f) for f in self.files)}>"


class _Derived:
    """A model that was made from something else: its text is what it prints, its diagram what a notebook shows."""

    #: The new model.
    model: Model

    @property
    def text(self) -> str:
        """The .bond file."""
        return self.model.text()

    def __repr__(self) -> str:
        return self.text.rstrip()

    def _repr_svg_(self) -> str:
        return self.model._repr_svg_()


class Lagrangian(_Derived):
    """The bond graphs of `lagrangian` blocks, with the proof that they are equal to them."""

    def __init__(self, model: Model, proofs: list[dict[str, Any]]) -> None:
        #: The model with bond graphs in place of the blocks.
        self.model = model
        #: For each block: name, line, largest difference, number of points, gyrators, cyclic coordinates, singular places.
        self.proofs = proofs


class Rewritten(_Derived):
    """A model that was written anew, with the proof that it is equal to the old one."""

    def __init__(
        self,
        model: Model,
        steps: list[tuple[str, str]],
        map: dict[str, str],
        refused: list[str],
        lines: list[str],
        proof: dict[str, Any] | None,
    ) -> None:
        #: The new model.
        self.model = model
        #: What was done: the rule, and the reason in words.
        self.steps = steps
        #: Old names, and what they are now.
        self.map = map
        #: What could not be done, and why.
        self.refused = refused
        #: All of it for reading.
        self.lines = lines
        #: Its line, the largest difference, number of points, experiments that were run; None where nothing was changed.
        self.proof = proof


class Imported(_Derived):
    """A model of another program."""

    def __init__(self, model: Model, warnings: str) -> None:
        #: The model.
        self.model = model
        #: What was not taken over, as the command line shows it.
        self.warnings = warnings
