//! Tables whose columns Python reads without copying.
//!
//! In:  a table that a run or a sweep has made, or a file.
//! Out: [`Column`]s with numpy's array interface, the Arrow stream of the whole, files, pictures.
//!
//! **Invariant:** nothing writes into a table once Python has it, and a column keeps its table alive. So
//! arrays are read-only, and several may share the memory.

use crate::arrow;
use crate::errors::{CallError, unknown};
use paynter::draw::{Plot, Theme, themed, to_png};
use paynter::figure::{FigureChoice, figure as make_figure};
use paynter::table;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict};
use std::path::Path;
use std::sync::Arc;

/// Something that holds a table.
pub type Held = Arc<dyn AsRef<table::Table> + Send + Sync>;

/// A table by itself.
pub struct Alone(pub table::Table);

impl AsRef<table::Table> for Alone {
    fn as_ref(&self) -> &table::Table {
        &self.0
    }
}

/// One column; `numpy.asarray` gives its numbers without copying.
#[pyclass(frozen, module = "paynter._paynter")]
pub struct Column {
    held: Held,
    /// None for the first one, time.
    index: Option<usize>,
}

impl Column {
    fn values(&self) -> &[f64] {
        let table = (*self.held).as_ref();
        match self.index {
            Some(index) => &table.columns[index].values,
            None => &table.time,
        }
    }
}

#[pymethods]
impl Column {
    /// Numpy's array interface, version 3: the memory stays ours and may not be written.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = self.values();
        let dict = PyDict::new(py);
        dict.set_item("version", 3)?;
        dict.set_item("typestr", NATIVE_DOUBLE)?;
        dict.set_item("shape", (values.len(),))?;
        dict.set_item("data", (values.as_ptr().addr(), true))?;
        Ok(dict)
    }

    fn __len__(&self) -> usize {
        self.values().len()
    }
}

/// A double in the byte order of this machine.
const NATIVE_DOUBLE: &str = if cfg!(target_endian = "little") {
    "<f8"
} else {
    ">f8"
};

/// Columns over time, or over the points of a sweep.
#[pyclass(frozen, module = "paynter._paynter")]
pub struct Table {
    /// The numbers.
    pub held: Held,
    /// Words beside the rows, as a last column of the Arrow stream: why points failed.
    pub words: Option<(String, Vec<Option<String>>)>,
}

impl Table {
    /// A table by itself.
    pub fn alone(table: table::Table) -> Table {
        Table {
            held: Arc::new(Alone(table)),
            words: None,
        }
    }

    fn table(&self) -> &table::Table {
        (*self.held).as_ref()
    }
}

#[pymethods]
impl Table {
    /// Name of the first column.
    #[getter]
    fn axis(&self) -> &str {
        self.table().axis_name()
    }

    /// The first column.
    #[getter]
    fn time(&self) -> Column {
        Column {
            held: self.held.clone(),
            index: None,
        }
    }

    /// The others: name, unit, values.
    #[getter]
    fn columns(&self) -> Vec<(String, String, Column)> {
        let columns = self.table().columns.iter().enumerate();
        columns
            .map(|(index, column)| {
                let values = Column {
                    held: self.held.clone(),
                    index: Some(index),
                };
                (column.name.clone(), column.unit.clone(), values)
            })
            .collect()
    }

    /// Facts about the run or sweep.
    #[getter]
    fn metadata(&self) -> Vec<(String, String)> {
        self.table().metadata.clone()
    }

    /// Writes a file: .csv, .parquet or .json.
    fn write(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        py.detach(|| self.table().write(Path::new(path)))
            .map_err(|e| CallError::new_err(e.to_string()))
    }

    /// The bytes of a Parquet file.
    fn parquet<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.table().to_parquet());
        let bytes = bytes.map_err(CallError::new_err)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The Arrow stream of the table, without copying (Arrow PyCapsule interface).
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer that wants other types casts by itself: the interface allows us to ignore its wish.
        drop(requested_schema);
        arrow::stream(py, self.held.clone(), self.words.clone())
    }
}

/// Reads a table from a file (.csv, .parquet, .json), or from bytes whose name tells the format.
#[pyfunction]
#[pyo3(signature = (name, bytes=None))]
pub fn read_table(py: Python<'_>, name: &str, bytes: Option<&[u8]>) -> PyResult<Table> {
    let found = py.detach(|| match bytes {
        Some(bytes) => table::Table::from_bytes(name, bytes).map_err(|e| format!("{name}: {e}")),
        None => table::Table::read(Path::new(name)).map_err(|e| e.to_string()),
    });
    found.map(Table::alone).map_err(CallError::new_err)
}

/// Draws columns of tables as SVG; further tables are drawn dashed.
#[pyfunction]
pub fn figure(
    py: Python<'_>,
    tables: Vec<(String, PyRef<'_, Table>)>,
    groups: Vec<String>,
    versus: Option<String>,
    title: String,
    theme: &str,
) -> PyResult<String> {
    let theme = theme_called(theme)?;
    let named: Vec<(String, Held)> = tables
        .iter()
        .map(|(n, t)| (n.clone(), t.held.clone()))
        .collect();
    let drawn = py.detach(|| {
        let tables: Vec<(String, table::Table)> = named
            .iter()
            .map(|(name, held)| (name.clone(), (**held).as_ref().clone()))
            .collect();
        make_figure(&tables, &FigureChoice { groups, versus }).map(|found| {
            let panels = found.panels;
            themed(&Plot { title, panels }.to_svg(), theme)
        })
    });
    drawn.map_err(CallError::new_err)
}

/// The paper of this name.
pub fn theme_called(name: &str) -> PyResult<Theme> {
    match name {
        "auto" => Ok(Theme::Auto),
        "light" => Ok(Theme::Light),
        "dark" => Ok(Theme::Dark),
        other => Err(unknown("theme", other, "auto, light or dark")),
    }
}

/// An SVG as the bytes of a PNG.
#[pyfunction]
pub fn png<'py>(py: Python<'py>, svg: &str) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = py.detach(|| to_png(svg));
    let bytes = bytes.map_err(|e| CallError::new_err(e.to_string()))?;
    Ok(PyBytes::new(py, &bytes))
}
