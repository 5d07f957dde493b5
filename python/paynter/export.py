"""Models for other programs: FMUs, C code, the bond graph of a Lagrangian."""

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


class Lagrangian:
    """The bond graphs of `lagrangian` blocks, with the proof that they are equal to them."""

    def __init__(self, model: Model, proofs: list[dict[str, Any]]) -> None:
        #: The model with bond graphs in place of the blocks.
        self.model = model
        #: For each block: name, line, largest difference, number of points, gyrators, cyclic coordinates, singular places.
        self.proofs = proofs

    @property
    def text(self) -> str:
        """The .bond file."""
        return self.model.text()

    def __repr__(self) -> str:
        return self.text.rstrip()

    def _repr_svg_(self) -> str:
        return self.model._repr_svg_()
