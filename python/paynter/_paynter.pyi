"""The compiled part of paynter; use the names of the package instead."""

from collections.abc import Callable, Mapping
from typing import Any

__version__: str

class PaynterError(Exception):
    messages: list[dict[str, Any]]
    code: str | None
    file: str | None
    line: int | None

class ModelError(PaynterError): ...

class RunError(PaynterError):
    result: Any

class CallError(PaynterError): ...

class Interrupted(KeyboardInterrupt):
    result: Any

class Column:
    __array_interface__: dict[str, Any]
    def __len__(self) -> int: ...

class Table:
    axis: str
    time: Column
    columns: list[tuple[str, str, Column]]
    metadata: list[tuple[str, str]]
    def write(self, path: str) -> None: ...
    def parquet(self) -> bytes: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

class Run:
    table: Table
    facts: dict[str, Any]
    event_times: list[float]
    elapsed: float
    warnings: str
    plots: list[str]
    def report(self, structure: bool) -> str: ...

class Sweep:
    table: Table
    curves: Table
    bands: Table
    labels: list[list[str]]
    failures: list[str | None]
    warnings: str
    n_cancelled: int
    def plot(self) -> str: ...
    def family(self) -> str: ...
    def statistics(self, is_sample: bool) -> tuple[str, str] | None: ...
    def shard(self, index: int, count: int, n_points: int, hash: str) -> bytes: ...

class Found:
    text: str
    json: str
    warnings: str
    table: Table
    def written(self, text: str, name: str) -> str: ...

class Sweeper:
    n_points: int
    hash: str
    values: list[bytes] | None
    def with_values(self, values: list[bytes]) -> Sweeper: ...
    def refuse(self, start: int, stop: int, reason: str, *, offset: int = 0) -> Sweep: ...
    def run(
        self,
        start: int,
        stop: int,
        *,
        offset: int = 0,
        jobs: int | None = None,
        progress: Callable[[float], Any] | None = None,
    ) -> Sweep: ...

class Linear:
    text: str
    json: str
    csv: str
    warnings: str
    def poles(self) -> tuple[str, str, str]: ...
    def transfers(self) -> tuple[str, str]: ...
    def bode(
        self, range: tuple[float, float] | None, also: list[tuple[str, Linear]]
    ) -> tuple[str, str, str, str]: ...
    def lqr(
        self, states: list[float] | None, inputs: list[float] | None, step: float | None
    ) -> tuple[str, str]: ...
    def lqi(
        self, states: list[float] | None, inputs: list[float] | None, step: float | None
    ) -> tuple[str, str]: ...
    def lqe(
        self, inputs: list[float] | None, outputs: list[float] | None, step: float | None
    ) -> tuple[str, str]: ...
    def lyap(self, inputs: list[float] | None) -> tuple[str, str]: ...
    def matched(self, step: float) -> tuple[str, str]: ...
    def d2c(self, method: str) -> tuple[str, str]: ...
    def place(self, poles: list[tuple[float, float]]) -> tuple[str, str]: ...
    def c2d(self, step: float, method: str, at_frequency: float | None) -> tuple[str, str]: ...
    def step(self, horizon: float | None) -> tuple[str, str, str, Table]: ...

class Design:
    model: str
    experiment: str | None
    experiments: list[str]
    warnings: str
    parameters: list[tuple[str, float]]
    files: list[tuple[str, str]]
    graph: tuple[list[tuple[str | None, str]], list[tuple[str | None, int, int]]]
    def causality(self) -> tuple[str, dict[str, Any], str]: ...
    def why(self, name: str) -> str: ...
    def steps(self) -> list[tuple[str, list[str]]]: ...
    def alternatives(self, limit: int) -> str: ...
    def equations(self, form: str, format: str) -> str: ...
    def diagram(
        self,
        format: str,
        *,
        parts: str,
        numbers: bool,
        signals: bool,
        frames: bool,
        theme: str,
        power: str | None,
        result: Table | None,
    ) -> bytes: ...
    def linearize(self, at: float | None = None, open_loop: bool = False) -> Linear: ...
    def margins(
        self, at: float | None = None, open_loop: bool = False, channels: bool = False
    ) -> tuple[str, str, list[str] | None]: ...
    def locus(
        self, at: float | None, low: float, high: float
    ) -> tuple[str, str, str, str]: ...
    def sensitivity(self, is_named: bool) -> tuple[str, str, str, Table]: ...
    def rows_of(self, table: Table) -> list[str]: ...
    def run(
        self,
        *,
        engine: str = "auto",
        times: list[float] | None = None,
        progress: Callable[[float], Any] | None = None,
    ) -> Run: ...
    def sweeper(self, engine: str, curves: bool = False, timed: bool = False) -> Sweeper: ...

def open(
    path: str,
    texts: Mapping[str, str],
    *,
    model: str | None = None,
    experiment: str | None = None,
    set: list[tuple[str, str]] = ...,
    linear: tuple[str | None, str | None, str | None, str | None, float | None] | None = None,
    over: tuple[list[str], bool] | None = None,
) -> Design: ...
def check(path: str, texts: Mapping[str, str]) -> tuple[str, list[dict[str, Any]]]: ...
def format(name: str, text: str) -> str: ...
def optimize(
    design: Design,
    *,
    starts: int,
    is_local: bool,
    max_runs: int | None,
    seed: int,
    jobs: int | None,
    engine: str,
    progress: Callable[..., Any] | None,
) -> Found: ...
def trade_off(
    design: Design,
    points: int,
    *,
    starts: int,
    is_local: bool,
    max_runs: int | None,
    seed: int,
    jobs: int | None,
    engine: str,
    progress: Callable[..., Any] | None,
) -> tuple[str, str, str, Table]: ...
def screen(
    design: Design,
    *,
    method: str,
    size: int | None,
    seed: int,
    jobs: int | None,
    progress: Callable[..., Any] | None,
) -> tuple[str, str, int, int]: ...
def fit(
    design: Design,
    *,
    starts: int,
    jobs: int | None,
    engine: str,
    progress: Callable[..., Any] | None,
) -> Found: ...
def compare_methods(
    design: Design, *, progress: Callable[..., Any] | None
) -> tuple[str, str, str]: ...
def structure(
    design: Design,
    question: str,
    *,
    at: float | None,
    share: float,
    instants: int,
    data: Table | None,
    elements: list[str],
) -> tuple[str, str, str, Table | None, str | None, str | None]: ...

_Rewritten = tuple[
    str,
    list[tuple[str, str]],
    list[tuple[str, str]],
    list[str],
    list[str],
    tuple[str, float, int, list[str]] | None,
]

def simplify(
    path: str, texts: Mapping[str, str], *, model: str | None, only: list[str]
) -> _Rewritten: ...
def reduce(
    path: str,
    texts: Mapping[str, str],
    *,
    model: str | None,
    experiment: str | None,
    cyclic: list[str],
    assume: list[str],
    minimal: list[str] | None,
) -> _Rewritten: ...
def scalarize(
    path: str, texts: Mapping[str, str], *, model: str | None, experiment: str | None = None
) -> _Rewritten: ...
def import_urdf(name: str, text: str) -> tuple[str, str]: ...

_Rows = list[list[float]]

def regulate(
    a: _Rows, b: _Rows, q: _Rows, r: _Rows, in_steps: bool
) -> tuple[_Rows, _Rows, list[tuple[float, float]]]: ...
def observe(
    a: _Rows, c: _Rows, q: _Rows, r: _Rows
) -> tuple[_Rows, _Rows, list[tuple[float, float]]]: ...
def lyap(a: _Rows, q: _Rows, in_steps: bool) -> _Rows: ...
def place(a: _Rows, b: _Rows, poles: list[tuple[float, float]]) -> _Rows: ...
def expm(a: _Rows) -> _Rows: ...
def change_steps(
    model: tuple[_Rows, _Rows, _Rows, _Rows],
    step: float,
    method: str,
    at_frequency: float | None,
    is_back: bool,
) -> tuple[_Rows, _Rows, _Rows, _Rows]: ...
def export_fmu(
    design: Design, path: str, *, fmi: int, sources_only: bool
) -> tuple[str, str | None]: ...
def export_c(design: Design, path: str, *, is_float: bool) -> tuple[str, str]: ...
def lagrangian(
    path: str, texts: Mapping[str, str], *, model: str | None, gyrators: str
) -> tuple[str, list[tuple[str, str, float, int, bool, int, list[str], list[str]]]]: ...
def doc(part: str, file: str | None = None) -> str: ...
def all_parts(file: str | None = None) -> list[tuple[str, str, str]]: ...
def seconds(text: str) -> float: ...
def codes() -> list[tuple[str, str, str]]: ...
def gallery() -> list[tuple[str, list[tuple[str, str]]]]: ...
def read_table(name: str, bytes: bytes | None = None) -> Table: ...
def figure(
    tables: list[tuple[str, Table]], groups: list[str], versus: str | None, title: str, theme: str
) -> str: ...
def png(svg: str) -> bytes: ...
def spectrum(
    table: Table, columns: list[str], window: str, span: tuple[float | None, float | None]
) -> tuple[str, str, str, str]: ...
def merge_shards(shards: list[tuple[str, bytes | None]], partial: bool = False) -> Table: ...
def shard_range(index: int, count: int, n_points: int) -> tuple[int, int]: ...
