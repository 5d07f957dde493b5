//! A model and an experiment, chosen: everything that can be asked without a run.

use crate::columns::{Table, theme_called};
use crate::errors::{CallError, design_error, loads, model_error, run_error, unknown};
use crate::linear::Linear;
use crate::run::Run;
use crate::sweep::Sweeper;
use paynter::compile::Strokes;
use paynter::draw::diagram::{
    BondLabels, DiagramOptions, Parts, PowerFlow, Shown, diagram, frames_svg, to_pdf,
};
use paynter::draw::{Theme, themed, to_png, to_svg, to_tikz};
use paynter::energies;
use paynter::exec::Engine;
use paynter::linear::{
    self, LinearError, Varying, default_parameters, sensitivities, sensitivities_to_json,
    sensitivities_to_text,
};
use paynter::listing;
use paynter::loader::DiskLoader;
use paynter::measure_slopes::{measure_slopes, measure_slopes_to_json, measure_slopes_to_text};
use paynter::model::causality::{alternatives, causality_diagnostics, report, steps, why};
use paynter::overlay::Overlay;
use paynter::power::{When, powers_of_run, powers_of_table, read_when};
use paynter::readable::readable;
use paynter::refused::Refused;
use paynter::run::Ready;
use paynter::sweep::Keep;
use paynter::symbolic::Role;
use paynter::syntax::{Diagnostic, render};
use paynter::typed_sweeps::rows_of;
use paynter::{Choice, LinearChoice, SweepChoice, design_in};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

/// A model without errors, with an experiment.
#[pyclass(frozen, module = "paynter._paynter")]
pub struct Design {
    /// The design.
    pub inner: Arc<paynter::Design>,
    /// What was asked for.
    pub choice: Choice,
    /// What further runs share; made at the second run, since most designs run once.
    pub ready: Mutex<Kept>,
}

/// What is kept between runs of one design.
#[derive(Default)]
pub struct Kept {
    /// Runs so far.
    pub n_runs: usize,
    /// Compiled, for this engine.
    pub ready: Option<(Engine, Arc<Ready>)>,
}

/// Texts by path: the main one, and files that are used and may not be on this machine's disk.
pub type Texts = BTreeMap<String, String>;

/// Those texts before those of the disk.
pub fn world(texts: Texts) -> Overlay<DiskLoader> {
    let mut world = Overlay::new(DiskLoader::default());
    for (path, text) in texts {
        world.set(path, text);
    }
    world
}

/// Inputs, outputs, signals at which loops are cut, wanted curves: names with commas between; the gain of quantisers.
type Asked = (
    Option<String>,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<f64>,
);

/// Opens a model.
#[pyfunction]
#[pyo3(signature = (path, texts, *, model=None, experiment=None, set=Vec::new(), linear=None, over=None))]
pub fn open(
    py: Python<'_>,
    path: &str,
    texts: Texts,
    model: Option<String>,
    experiment: Option<String>,
    set: Vec<(String, String)>,
    linear: Option<Asked>,
    over: Option<(Vec<String>, bool)>,
) -> PyResult<Design> {
    let choice = Choice {
        model,
        experiment,
        overrides: set,
        linear: linear.map(|(from, to, cut, want, quantiser_gain)| LinearChoice {
            from,
            to,
            cut,
            want,
            quantiser_gain,
        }),
        sweep: over.map(|(over, is_paired)| SweepChoice { over, is_paired }),
    };
    match py.detach(|| design_in(&mut world(texts), path, &choice)) {
        Ok(inner) => Ok(Design {
            inner: Arc::new(inner),
            choice,
            ready: Mutex::default(),
        }),
        Err(error) => Err(design_error(py, error)),
    }
}

/// Looks for errors in a whole file: the rendered messages, and the messages in parts.
#[pyfunction]
pub fn check<'py>(
    py: Python<'py>,
    path: &str,
    texts: Texts,
) -> PyResult<(String, Bound<'py, PyAny>)> {
    let found = py.detach(|| paynter::check::check_in(&mut world(texts), path));
    let failed = found.map_err(CallError::new_err)?;
    let shown = render(&failed.diagnostics, &failed.sources, false);
    let json = paynter::diagnostics_json(&failed.diagnostics, &failed.sources);
    Ok((shown, loads(py, &json)?))
}

/// Lays out a text as `paynter fmt` does.
#[pyfunction]
pub fn format(py: Python<'_>, name: &str, text: &str) -> PyResult<String> {
    match paynter::design::format_text(name, text) {
        Ok(formatted) => Ok(formatted.unwrap_or_else(|| text.to_owned())),
        Err(failed) => Err(model_error(py, &failed.diagnostics, &failed.sources)),
    }
}

/// All codes of messages: code, title, explanation.
#[pyfunction]
pub fn codes() -> Vec<(&'static str, &'static str, &'static str)> {
    let mut codes = paynter::codes();
    codes.extend_from_slice(paynter_export::code::TABLE);
    codes.extend_from_slice(paynter_import::code::TABLE);
    codes.extend_from_slice(paynter_rewrite::code::TABLE);
    codes.extend_from_slice(paynter_structure::code::TABLE);
    codes.sort_unstable();
    codes
}

/// A time such as `20 [ms]` in s.
#[pyfunction]
pub fn seconds(text: &str) -> PyResult<f64> {
    match read_when(text) {
        Ok(When::At(t)) => Ok(t),
        _ => Err(CallError::new_err(format!(
            "`{text}` is no time; write 0.1 or \"100 [ms]\""
        ))),
    }
}

/// The gallery that travels inside the package: folder, file and text of each model.
#[pyfunction]
pub fn gallery() -> Vec<(String, Vec<(String, String)>)> {
    let owned = |(path, text): (&str, &str)| (path.to_owned(), text.to_owned());
    let folders = paynter::library::gallery().into_iter();
    folders
        .map(|(name, files)| (name.to_owned(), files.into_iter().map(owned).collect()))
        .collect()
}

#[pymethods]
impl Design {
    /// Name of the model.
    #[getter]
    fn model(&self) -> &str {
        &self.inner.model
    }

    /// Name of the experiment, if there is one.
    #[getter]
    fn experiment(&self) -> Option<&str> {
        self.inner.plan.name.as_deref()
    }

    /// All experiments of the file.
    #[getter]
    fn experiments(&self) -> Vec<String> {
        self.inner.experiments.clone()
    }

    /// Warnings about the model, rendered.
    #[getter]
    fn warnings(&self) -> String {
        render(&self.inner.diagnostics, &self.inner.project.sources, false)
    }

    /// Parameters and their values in SI units.
    #[getter]
    fn parameters(&self) -> Vec<(String, f64)> {
        let dae = &self.inner.graph.signals;
        let values = dae.symbols.iter().filter_map(|symbol| match symbol.role {
            Role::Parameter { value, .. } => Some((dae.names.display(symbol.name), value)),
            _ => None,
        });
        values.collect()
    }

    /// The texts that the design was made of, by path; without the library.
    #[getter]
    fn files(&self) -> Vec<(String, String)> {
        self.inner.files()
    }

    /// Elements (name, kind) and bonds (name, tail, head; elements by number).
    #[getter]
    fn graph(&self) -> (Elements, Bonds) {
        let graph = &self.inner.graph;
        let name = |path| graph.signals.names.display(path);
        let elements = graph.elements.iter();
        let elements = elements.map(|e| (e.name.map(name), e.kind.letters().to_owned()));
        let bonds = graph.bonds.iter();
        let bonds = bonds.map(|b| (b.name.map(name), b.tail.element.0, b.head.element.0));
        (elements.collect(), bonds.collect())
    }

    /// Strokes, states, loops: as text, as plain objects, and what is wrong with them.
    fn causality<'py>(&self, py: Python<'py>) -> PyResult<(String, Bound<'py, PyAny>, String)> {
        let Strokes {
            graph,
            causality,
            solved,
        } = py.detach(|| self.inner.strokes());
        let text = report::to_text(&graph, &causality, &solved);
        let json = report::to_json(&graph, &causality, &solved);
        let messages = causality_diagnostics(&graph, &causality, &solved);
        let shown = render(&messages, &self.inner.project.sources, false);
        Ok((text, loads(py, &json)?, shown))
    }

    /// Why the bonds of an element, or a named bond, have their strokes.
    fn why(&self, name: &str) -> PyResult<String> {
        let bonds = self.inner.bonds_called(name);
        if bonds.is_empty() {
            let message = format!("there is no element or bond called `{name}`");
            return Err(CallError::new_err(message));
        }
        let Strokes {
            graph, causality, ..
        } = self.inner.strokes();
        let mut lines = Vec::new();
        for bond in bonds {
            lines.push(report::stroke_text(&graph, &causality, bond));
            let reasons = why(&graph, &causality, bond).into_iter();
            lines.extend(reasons.map(|line| format!("  {line}")));
        }
        Ok(lines.join("\n"))
    }

    /// The assignment of causality step by step: each decision, and what follows from it.
    fn steps(&self) -> Vec<(String, Vec<String>)> {
        let Strokes {
            graph, causality, ..
        } = self.inner.strokes();
        let found = steps(&graph, &causality).into_iter();
        found.map(|step| (step.decision, step.follows)).collect()
    }

    /// Other assignments with as few dependent storages, as text.
    fn alternatives(&self, limit: usize) -> String {
        let graph = self.inner.strokes().graph;
        report::alternatives_to_text(&graph, &alternatives(&graph, limit))
    }

    /// The equations in one of the forms `state`, `dae`, `blocks`, `matrix`, `lagrange`, `hamiltonian`.
    fn equations(&self, py: Python<'_>, form: &str, format: &str) -> PyResult<String> {
        let format = match format {
            "text" => listing::Format::Text,
            "latex" => listing::Format::Latex,
            "json" => listing::Format::Json,
            other => return Err(unknown("format", other, "text, latex or json")),
        };
        let design = &self.inner;
        match form {
            "state" | "blocks" | "matrix" => {}
            "dae" => return Ok(listing::dae(design, &design.causality(), format)),
            "lagrange" | "hamiltonian" => {
                let list = match form {
                    "lagrange" => energies::lagrange,
                    _ => energies::hamiltonian,
                };
                return py
                    .detach(|| list(design, format))
                    .map_err(CallError::new_err);
            }
            other => {
                let known = "state, dae, blocks, matrix, lagrange or hamiltonian";
                return Err(unknown("form", other, known));
            }
        }
        let readable = py.detach(|| readable(design));
        let readable = readable.map_err(|m| self.wrong(py, &m))?;
        match form {
            "state" => Ok(listing::state(&readable, format)),
            "blocks" => Ok(listing::blocks(&readable, format)),
            _ => listing::matrices(design, &readable, format).map_err(CallError::new_err),
        }
    }

    /// The bond graph as a picture: svg, png, pdf or tikz.
    #[pyo3(signature = (format, *, parts, numbers, signals, frames, theme, power, result))]
    fn diagram<'py>(
        &self,
        py: Python<'py>,
        format: &str,
        parts: &str,
        numbers: bool,
        signals: bool,
        frames: bool,
        theme: &str,
        power: Option<&str>,
        result: Option<PyRef<'_, Table>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let options = DiagramOptions {
            title: self.inner.model.clone(),
            parts: match parts {
                "auto" => Parts::Automatic,
                "open" => Parts::Open,
                "closed" => Parts::Closed,
                other => return Err(unknown("parts", other, "auto, open or closed")),
            },
            signals: if signals {
                Shown::WhenFew
            } else {
                Shown::Never
            },
            bond_labels: if numbers {
                BondLabels::Numbers
            } else {
                BondLabels::Names
            },
            power: power
                .map(|when| self.power(py, when, result.as_deref()))
                .transpose()?,
            ..DiagramOptions::default()
        };
        let theme = theme_called(theme)?;
        let bytes = py.detach(|| self.drawn(format, frames, theme, &options))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The linear model at the start, or at a time of the run.
    #[pyo3(signature = (at=None, open_loop=false))]
    fn linearize(&self, py: Python<'_>, at: Option<f64>, open_loop: bool) -> PyResult<Linear> {
        self.check_time(at)?;
        let design = &self.inner;
        let ask = linear::linear_request(design, at, open_loop);
        let made = py.detach(|| {
            let compiled = design.compile().map_err(LinearError::Model)?;
            linear::linearize(design, &compiled, &ask)
        });
        let inner = made.map_err(|e: LinearError| self.refused(py, e))?;
        Ok(Linear {
            design: design.clone(),
            inner,
            ask,
        })
    }

    /// Margins of the loops at the cut signals, and of closed-loop channels: text, JSON, and pictures of the first loop: gain
    /// and phase, in the complex plane, gain over phase.
    #[pyo3(signature = (at=None, open_loop=false, channels=false))]
    fn margins(
        &self,
        py: Python<'_>,
        at: Option<f64>,
        open_loop: bool,
        channels: bool,
    ) -> PyResult<(String, String, Option<[String; 3]>)> {
        self.check_time(at)?;
        let design = &self.inner;
        let ask = linear::linear_request(design, at, open_loop);
        let found = py.detach(|| {
            let compiled = design.compile().map_err(LinearError::Model)?;
            let cuts = design.linear.cut.iter();
            let loops = cuts.map(|cut| linear::loop_margins(design, &compiled, cut, at));
            let loops = loops.collect::<Result<Vec<_>, _>>()?;
            let found = match channels {
                true => {
                    let linear = linear::linearize(design, &compiled, &ask)?;
                    linear::channel_margins(design, &linear)?
                }
                false => Vec::new(),
            };
            Ok((loops, found))
        });
        let (loops, channels) = found.map_err(|e: LinearError| self.refused(py, e))?;
        let mut texts: Vec<String> = loops.iter().map(|l| l.to_text()).collect();
        texts.extend(channels.iter().map(|c| c.to_text()));
        let json = serde_json::json!({
            "loops": loops.iter().map(|l| l.to_json()).collect::<Vec<_>>(),
            "closed_loop_channels": channels.iter().map(|c| c.to_json()).collect::<Vec<_>>(),
        });
        let title = design.plan.name.as_ref().unwrap_or(&design.model);
        let pictures = loops
            .first()
            .map(|l| [l.plot(title), l.nyquist(title), l.nichols(title)].map(|plot| plot.to_svg()));
        Ok((texts.join("\n"), json.to_string(), pictures))
    }

    /// How the poles of the loop at the cut signal move with a factor on its gain: text, JSON, SVG, warnings.
    #[pyo3(signature = (at, low, high))]
    fn locus(
        &self,
        py: Python<'_>,
        at: Option<f64>,
        low: f64,
        high: f64,
    ) -> PyResult<(String, String, String, String)> {
        self.check_time(at)?;
        if !(low > 0.0 && high > low && high.is_finite()) {
            return Err(CallError::new_err(
                "factors must be positive, and low below high",
            ));
        }
        let design = &self.inner;
        let [cut] = &design.linear.cut[..] else {
            return Err(CallError::new_err(
                "name one signal at which the loop is cut, such as cut=\"ctrl.u\"",
            ));
        };
        let found = py.detach(|| {
            let compiled = design.compile().map_err(LinearError::Model)?;
            linear::locus(design, &compiled, (cut, at), (low, high))
        });
        let report = found.map_err(|e: LinearError| self.refused(py, e))?;
        let title = design.plan.name.as_ref().unwrap_or(&design.model);
        Ok((
            report.to_text(),
            report.to_json().to_string(),
            report.plot(title).to_svg(),
            render(&report.linear.warnings, &design.project.sources, false),
        ))
    }

    /// How recorded quantities follow parameters along the run; by all of the top model unless some were named: text, JSON,
    /// SVG, and values with their derivatives.
    fn sensitivity(
        &self,
        py: Python<'_>,
        is_named: bool,
    ) -> PyResult<(String, String, String, Table)> {
        let design = &self.inner;
        let over: Vec<Varying> = match is_named {
            true => {
                let named = design.linear.from.iter();
                named.map(|q| Varying::of(design, q)).collect()
            }
            false => default_parameters(design),
        };
        let to = linear::linear_request(design, None, false).to;
        if over.is_empty() || to.is_empty() {
            return Err(CallError::new_err(
                "name parameters with by= and quantities with of=",
            ));
        }
        let found = py.detach(|| {
            let compiled = design.compile().map_err(LinearError::Model)?;
            let found = sensitivities(design, &compiled, (&over, &to))?;
            let measures = measure_slopes(design, &over).map_err(LinearError::Model)?;
            Ok((found, measures))
        });
        let (found, measures) = found.map_err(|e: LinearError| self.refused(py, e))?;
        let title = design.plan.name.as_ref().unwrap_or(&design.model);
        let mut json = sensitivities_to_json(&found);
        json["measures"] = measure_slopes_to_json(&measures);
        Ok((
            sensitivities_to_text(&found) + &measure_slopes_to_text(&measures, &over),
            json.to_string(),
            found.plot(title).to_svg(),
            Table::alone(found.table()),
        ))
    }

    /// The rows of a table as values to run over, one text for each column.
    fn rows_of(&self, table: PyRef<'_, Table>) -> PyResult<Vec<String>> {
        let held = table.held.clone();
        rows_of(&self.inner, &self.choice, (*held).as_ref()).map_err(CallError::new_err)
    }

    /// Runs the experiment.
    #[pyo3(signature = (*, engine="auto", times=None, progress=None))]
    fn run(
        &self,
        py: Python<'_>,
        engine: &str,
        times: Option<Vec<f64>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Run> {
        crate::run::run(py, self, engine, times, progress)
    }

    /// Compiles what the points of the sweeps have in common; curves and run times of each are kept where asked for.
    #[pyo3(signature = (engine, curves=false, timed=false))]
    fn sweeper(
        &self,
        py: Python<'_>,
        engine: &str,
        curves: bool,
        timed: bool,
    ) -> PyResult<Sweeper> {
        let keep = Keep {
            curves,
            times: timed,
        };
        Sweeper::new(py, self, engine, keep)
    }
}

/// Name and kind of each element.
type Elements = Vec<(Option<String>, String)>;
/// Name, tail and head of each bond.
type Bonds = Vec<(Option<String>, u32, u32)>;

impl Design {
    /// An exception about this model.
    pub fn wrong(&self, py: Python<'_>, messages: &[Diagnostic]) -> PyErr {
        model_error(py, messages, &self.inner.project.sources)
    }

    /// The exception that says why a question about this model has no answer.
    pub fn refused(&self, py: Python<'_>, why: impl Into<Refused>) -> PyErr {
        match why.into() {
            Refused::Call(message) => CallError::new_err(message),
            Refused::Model(messages) => self.wrong(py, &messages),
            Refused::Run(messages) => run_error(py, &messages, &self.inner.project.sources),
        }
    }

    /// Refuses a time before the run.
    pub fn check_time(&self, at: Option<f64>) -> PyResult<()> {
        let start = self.inner.plan.start;
        match at {
            Some(at) if !(at.is_finite() && at >= start) => Err(CallError::new_err(format!(
                "at = {at} is not a time of the run, which starts at {start} s"
            ))),
            _ => Ok(()),
        }
    }

    fn power(&self, py: Python<'_>, when: &str, result: Option<&Table>) -> PyResult<PowerFlow> {
        let when = read_when(when).map_err(CallError::new_err)?;
        let held = result.map(|table| table.held.clone());
        let found = py.detach(|| match held {
            Some(held) => powers_of_table(&self.inner, (*held).as_ref(), when),
            None => powers_of_run(&self.inner, when, Engine::Auto, &mut |_| {
                ControlFlow::Continue(())
            }),
        });
        found.map_err(|why| self.refused(py, why))
    }

    fn drawn(
        &self,
        format: &str,
        frames: bool,
        theme: Theme,
        options: &DiagramOptions,
    ) -> PyResult<Vec<u8>> {
        let design = &self.inner;
        let causality = design.causality();
        let drawn = || diagram(&design.graph, Some(&causality), options);
        let svg = || match frames {
            true => themed(&frames_svg(&design.graph, &causality, options), theme),
            false => themed(&to_svg(&drawn()), theme),
        };
        match (format, frames) {
            ("svg", _) => Ok(svg().into_bytes()),
            ("png", _) => to_png(&svg()).map_err(|e| CallError::new_err(e.to_string())),
            ("pdf", false) => Ok(to_pdf(&drawn())),
            ("tikz", false) => Ok(to_tikz(&drawn()).into_bytes()),
            ("pdf" | "tikz", true) => Err(CallError::new_err("frames are drawn as svg or png")),
            (other, _) => Err(unknown("format", other, "svg, png, pdf or tikz")),
        }
    }
}
