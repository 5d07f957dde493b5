//! The Python door: models, runs and sweeps as objects, results as arrays.
//!
//! In:  paths or texts, options as plain values.
//! Out: columns that share the engine's memory, JSON for everything small, exceptions with the same
//!      messages that the command line shows.
//!
//! Nothing here computes: every call is one call of the façade. The Python files in `paynter/` beside this
//! folder make it pleasant to use. The interpreter lock is released while the engine works.

mod arrow;
mod columns;
mod design;
mod errors;
mod export;
mod linear;
mod matrices;
mod methods;
mod rewrite;
mod run;
mod screen;
mod search;
mod spectrum;
mod structure;
mod sweep;
mod watch;

use pyo3::prelude::*;

#[pymodule]
fn _paynter(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    errors::register(m)?;
    m.add_class::<columns::Column>()?;
    m.add_class::<columns::Table>()?;
    m.add_class::<design::Design>()?;
    m.add_class::<linear::Linear>()?;
    m.add_class::<run::Run>()?;
    m.add_class::<search::Found>()?;
    m.add_class::<sweep::Sweeper>()?;
    m.add_class::<sweep::Sweep>()?;
    m.add_function(wrap_pyfunction!(design::open, m)?)?;
    m.add_function(wrap_pyfunction!(design::check, m)?)?;
    m.add_function(wrap_pyfunction!(design::format, m)?)?;
    m.add_function(wrap_pyfunction!(design::codes, m)?)?;
    m.add_function(wrap_pyfunction!(design::gallery, m)?)?;
    m.add_function(wrap_pyfunction!(design::seconds, m)?)?;
    m.add_function(wrap_pyfunction!(export::export_fmu, m)?)?;
    m.add_function(wrap_pyfunction!(export::export_c, m)?)?;
    m.add_function(wrap_pyfunction!(export::lagrangian, m)?)?;
    m.add_function(wrap_pyfunction!(export::doc, m)?)?;
    m.add_function(wrap_pyfunction!(export::all_parts, m)?)?;
    m.add_function(wrap_pyfunction!(methods::compare_methods, m)?)?;
    m.add_function(wrap_pyfunction!(search::optimize, m)?)?;
    m.add_function(wrap_pyfunction!(search::fit, m)?)?;
    m.add_function(wrap_pyfunction!(search::trade_off, m)?)?;
    m.add_function(wrap_pyfunction!(screen::screen, m)?)?;
    m.add_function(wrap_pyfunction!(spectrum::spectrum, m)?)?;
    m.add_function(wrap_pyfunction!(rewrite::simplify, m)?)?;
    m.add_function(wrap_pyfunction!(rewrite::reduce, m)?)?;
    m.add_function(wrap_pyfunction!(rewrite::scalarize, m)?)?;
    m.add_function(wrap_pyfunction!(rewrite::import_urdf, m)?)?;
    m.add_function(wrap_pyfunction!(matrices::regulate, m)?)?;
    m.add_function(wrap_pyfunction!(matrices::observe, m)?)?;
    m.add_function(wrap_pyfunction!(matrices::lyap, m)?)?;
    m.add_function(wrap_pyfunction!(matrices::place, m)?)?;
    m.add_function(wrap_pyfunction!(matrices::expm, m)?)?;
    m.add_function(wrap_pyfunction!(matrices::change_steps, m)?)?;
    m.add_function(wrap_pyfunction!(columns::png, m)?)?;
    m.add_function(wrap_pyfunction!(structure::structure, m)?)?;
    m.add_function(wrap_pyfunction!(columns::read_table, m)?)?;
    m.add_function(wrap_pyfunction!(columns::figure, m)?)?;
    m.add_function(wrap_pyfunction!(sweep::merge_shards, m)?)?;
    m.add_function(wrap_pyfunction!(sweep::shard_range, m)?)?;
    Ok(())
}
