"""Paynter: bond-graph modelling and simulation.

>>> import paynter
>>> m = paynter.model('''
... model RC {
...     param R1 = 1 [kohm], C1 = 100 [uF]
...     supply: Se(5 [V]) -> loop: 1 -> r: R(R1), c: C(C1)
...     output v [V] = c.e
... }
... experiment charge of RC { stop = 0.5 [s]; record v }
... ''')
>>> print(m.equations())
c.q' = (5 - c.q/C1)/R1
v = c.q/C1
>>> result = m.run()
>>> round(float(result["v"][-1]), 4)
4.9663
>>> round(float(m.set(R1="2 [kohm]").run()["v"][-1]), 4)
4.5896
"""

from ._paynter import (
    CallError,
    Interrupted,
    ModelError,
    PaynterError,
    RunError,
    __version__,
    explain,
)
from .build import Graph, Part
from .export import Exported, Lagrangian
from .linear import (
    Bode,
    Gains,
    LinearModel,
    Margins,
    Methods,
    Poles,
    SampledModel,
    StepResponse,
    Structure,
)
from .model import Causality, Check, Equations, Model, Picture, doc, gallery, load, model
from .result import Columns, Result, SweepResult, read
from .search import Fit, Optimum

__all__ = [
    "Bode",
    "CallError",
    "Causality",
    "Check",
    "Columns",
    "Equations",
    "Exported",
    "Fit",
    "Gains",
    "Graph",
    "Interrupted",
    "Lagrangian",
    "LinearModel",
    "Margins",
    "Methods",
    "Model",
    "ModelError",
    "Optimum",
    "Part",
    "PaynterError",
    "Picture",
    "Poles",
    "Result",
    "RunError",
    "SampledModel",
    "StepResponse",
    "Structure",
    "SweepResult",
    "__version__",
    "doc",
    "explain",
    "gallery",
    "load",
    "model",
    "read",
]
