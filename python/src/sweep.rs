//! One experiment at many values: compiled once, any part of it run anywhere.

use crate::columns::{Alone, Table};
use crate::design::Design;
use crate::errors::{CallError, Interrupted};
use crate::run::engine_called;
use crate::watch::{Watch, go_on};
use paynter::shards::{Cut, Shard, merge, merge_some, shard_table, sweep_hash};
use paynter::sweep::{self, CANCELLED, Keep, Point, shared_warnings};
use paynter::sweep_table::to_table;
use paynter::syntax::render;
use paynter::table;
use paynter::{statistics, sweep_curves, sweep_pictures};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A compiled sweep.
#[pyclass(frozen, module = "paynter._paynter")]
pub struct Sweeper {
    inner: sweep::Sweeper<Arc<paynter::Design>>,
    choice: paynter::Choice,
    engine: paynter::exec::Engine,
}

impl Sweeper {
    /// Compiles what the points have in common.
    pub fn new(py: Python<'_>, design: &Design, engine: &str, keep: Keep) -> PyResult<Sweeper> {
        if design.inner.plan.sweeps.is_empty() {
            return Err(CallError::new_err(
                "there is nothing to sweep: the experiment has no `sweep` line; give over={\"R1\": [10, 20, 50]}",
            ));
        }
        let engine = engine_called(engine)?;
        let (inner, choice) = (design.inner.clone(), &design.choice);
        let made = py.detach(|| sweep::Sweeper::keeping(inner, choice, engine, keep));
        Ok(Sweeper {
            inner: made.map_err(|messages| design.wrong(py, &messages))?,
            choice: design.choice.clone(),
            engine,
        })
    }
}

#[pymethods]
impl Sweeper {
    /// Number of runs.
    #[getter]
    fn n_points(&self) -> usize {
        self.inner.design().plan.n_points()
    }

    /// Tells the texts and values of this sweep from those of another.
    #[getter]
    fn hash(&self) -> String {
        sweep_hash(self.inner.design())
    }

    /// The numbers of each sweep in SI units, as bytes of doubles; none where some are no numbers.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> Option<Vec<Bound<'py, PyBytes>>> {
        let values = self.inner.design().sweep_values()?;
        let bytes = values.into_iter().map(|list| {
            let bytes: Vec<u8> = list.iter().flat_map(|x| x.to_ne_bytes()).collect();
            PyBytes::new(py, &bytes)
        });
        Some(bytes.collect())
    }

    /// The same sweeps over other numbers in SI units, given as bytes of doubles.
    fn with_values(&self, values: Vec<Vec<u8>>) -> PyResult<Sweeper> {
        let read = |bytes: &Vec<u8>| -> Vec<f64> {
            let (numbers, _) = bytes.as_chunks::<8>();
            numbers.iter().map(|b| f64::from_ne_bytes(*b)).collect()
        };
        let values: Vec<Vec<f64>> = values.iter().map(read).collect();
        let inner = self
            .inner
            .with_values(&values)
            .map_err(CallError::new_err)?;
        Ok(Sweeper {
            inner,
            choice: self.choice.clone(),
            engine: self.engine,
        })
    }

    /// Points `start` to `stop` that did not run, all for one reason.
    #[pyo3(signature = (start, stop, reason, *, offset=0))]
    fn refuse(
        &self,
        py: Python<'_>,
        start: usize,
        stop: usize,
        reason: &str,
        offset: usize,
    ) -> Sweep {
        let mut points = self.inner.refuse(start..stop, reason);
        for point in &mut points {
            point.number += offset;
        }
        self.to_python(py, points, offset)
    }

    /// Runs points `start` to `stop`; their numbers in the whole sweep are larger by `offset`.
    #[pyo3(signature = (start, stop, *, offset=0, jobs=None, progress=None))]
    fn run(
        &self,
        py: Python<'_>,
        start: usize,
        stop: usize,
        offset: usize,
        jobs: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Sweep> {
        let n_points = self.n_points();
        if stop > n_points || start > stop {
            return Err(CallError::new_err(format!(
                "the sweep has points 0 to {n_points}, not {start} to {stop}"
            )));
        }
        let all_cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = jobs.unwrap_or_else(all_cores);
        let watch = Watch::new(progress);
        let n_done = AtomicUsize::new(0);
        let share = || n_done.load(Ordering::Relaxed) as f64 / (stop - start).max(1) as f64;
        let mut points = py.detach(|| {
            let work = |must_stop: &AtomicBool| {
                self.inner.run(start..stop, jobs, &|done| {
                    n_done.fetch_max(done, Ordering::Relaxed);
                    go_on(must_stop)
                })
            };
            watch.during(work, |py, call| call.call1(py, (share(),)).map(|_| ()))
        });
        for point in &mut points {
            point.number += offset;
        }
        let sweep = self.to_python(py, points, offset);
        match watch.stopped() {
            None => Ok(sweep),
            Some(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
                let message = "the sweep was interrupted; `result` holds the points that are done";
                let error = Interrupted::new_err(message);
                error.value(py).setattr("result", Py::new(py, sweep)?)?;
                Err(error)
            }
            Some(error) => Err(error),
        }
    }
}

impl Sweeper {
    fn to_python(&self, py: Python<'_>, points: Vec<Point>, offset: usize) -> Sweep {
        let design = self.inner.design();
        // Words are looked for at the places of this part.
        let own = |p: &Point| Point {
            number: p.number - offset,
            ..p.clone()
        };
        let has_warnings = points.iter().any(|p| !p.warnings.is_empty());
        let warnings = py.detach(|| match has_warnings {
            false => Vec::new(),
            true => {
                let points: Vec<Point> = points.iter().map(own).collect();
                shared_warnings(design, &self.choice, self.engine, &points)
            }
        });
        let told = warnings.into_iter().map(|w| {
            let count = format!("in {} of {} runs", w.points.len(), points.len());
            w.message.fact(count)
        });
        let told: Vec<_> = told.collect();
        Sweep {
            table: Arc::new(Alone(to_table(design, &points))),
            labels: points.iter().map(|p| p.labels.clone()).collect(),
            failures: points.iter().map(|p| p.failure.clone()).collect(),
            warnings: render(&told, &design.project.sources, false),
            points,
            design: self.inner.design_arc(),
        }
    }
}

/// Points that have run.
#[pyclass(frozen, module = "paynter._paynter")]
pub struct Sweep {
    table: Arc<Alone>,
    /// The swept values of each point, as shown.
    #[pyo3(get)]
    labels: Vec<Vec<String>>,
    /// Why a point failed; none for those that did not.
    #[pyo3(get)]
    failures: Vec<Option<String>>,
    /// Warnings, each once, rendered.
    #[pyo3(get)]
    warnings: String,
    points: Vec<Point>,
    design: Arc<paynter::Design>,
}

#[pymethods]
impl Sweep {
    /// One row for each point.
    #[getter]
    fn table(&self) -> Table {
        Table {
            held: self.table.clone(),
            words: Some(("failure".to_owned(), self.failures.clone())),
        }
    }

    /// The recorded curves of all points, one row for each point and time.
    #[getter]
    fn curves(&self, py: Python<'_>) -> Table {
        Table::alone(py.detach(|| sweep_curves::to_table(&self.design, &self.points)))
    }

    /// Quantiles of the recorded curves over time.
    #[getter]
    fn bands(&self, py: Python<'_>) -> Table {
        let found = py.detach(|| sweep_curves::bands(&self.points));
        Table::alone(sweep_curves::bands_to_table(&found))
    }

    /// The measures as a picture (SVG): over the swept value, as a map over two, as histograms of a sample.
    fn plot(&self, py: Python<'_>) -> PyResult<String> {
        let plot = py.detach(|| sweep_pictures::measures(&self.design, &self.points));
        Ok(plot.map_err(CallError::new_err)?.to_svg())
    }

    /// The recorded curves of all points as a picture (SVG); of a sample its quantiles.
    fn family(&self, py: Python<'_>) -> PyResult<String> {
        let plot = py.detach(|| sweep_pictures::family(&self.design, &self.points));
        Ok(plot.map_err(CallError::new_err)?.to_svg())
    }

    /// Statistics of a sample, text and JSON; none of a grid unless it is said to be a sample.
    fn statistics(&self, is_sample: bool) -> Option<(String, String)> {
        let (design, points) = (&self.design, &self.points);
        let found = match is_sample {
            true => Some(statistics::describe(design, points)),
            false => statistics::statistics(design, points),
        };
        found.map(|f| (statistics::to_text(&f), statistics::to_json(&f).to_string()))
    }

    /// Number of points that were cancelled.
    #[getter]
    fn n_cancelled(&self) -> usize {
        let is_cancelled = |f: &&Option<String>| f.as_deref() == Some(CANCELLED);
        self.failures.iter().filter(is_cancelled).count()
    }

    /// These points as shard `index` (from 0) of `count`: the bytes of a Parquet file.
    fn shard<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        count: usize,
        n_points: usize,
        hash: String,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let cut = Cut {
            shard: Shard { index, count },
            n_points,
            hash,
        };
        let table = shard_table(&self.design, &cut, &self.points);
        let bytes = table.to_parquet().map_err(CallError::new_err)?;
        Ok(PyBytes::new(py, &bytes))
    }
}

/// First point and end of shard `index` (from 0) of `count`.
#[pyfunction]
pub fn shard_range(index: usize, count: usize, n_points: usize) -> (usize, usize) {
    let range = Shard { index, count }.range(n_points);
    (range.start, range.end)
}

/// Puts shards together: pairs of a name and the bytes of a Parquet file, or none to read the file.
/// With `partial`, some may be missing.
#[pyfunction]
#[pyo3(signature = (shards, partial=false))]
pub fn merge_shards(
    py: Python<'_>,
    shards: Vec<(String, Option<Vec<u8>>)>,
    partial: bool,
) -> PyResult<Table> {
    let found = py.detach(|| {
        let mut tables = Vec::new();
        for (name, bytes) in shards {
            let read = match bytes {
                Some(bytes) => table::Table::from_bytes("shard.parquet", &bytes),
                None => table::Table::read(name.as_ref()).map_err(|e| e.to_string()),
            };
            let table = read.map_err(|e| format!("{name}: {e}"))?;
            tables.push((name, table));
        }
        match partial {
            true => merge_some(tables),
            false => merge(tables),
        }
    });
    found.map(Table::alone).map_err(CallError::new_err)
}
