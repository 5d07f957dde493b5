//! A function of time and states with its exact derivatives: right-hand sides, constraints,
//! demands on the start.
//!
//! In:  expressions.
//! Out: a [`Map`]: a routine for the values, one for tangents, the pattern, and columns that
//!      can be seeded together.
//!
//! **Invariant:** tangent steps are run only after the value steps at the same point.

use std::sync::OnceLock;

use paynter_symbolic::expr::ExprId;
use rustc_hash::FxHashMap;

use crate::code::{Step, run};
use crate::emit::{Emitter, LowerError, Routine};
use crate::failure::Fault;
use crate::memory::Memory;
use crate::pattern::{Columns, colour, dependencies};
use crate::tangent::{Tangents, tangent_of};

/// Slots of time, of the variables, and of their seeds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inputs {
    pub time: u32,
    /// First slot of the variables, which follow one another.
    pub first: u32,
    pub n: usize,
    pub time_seed: u32,
    /// First slot of the seeds.
    pub first_seed: u32,
}

impl Inputs {
    /// Writes time and variables.
    pub(crate) fn load(&self, slots: &mut [f64], t: f64, y: &[f64]) {
        slots[self.time as usize] = t;
        let n = y.len();
        slots[self.first as usize..self.first as usize + n].copy_from_slice(y);
    }
}

/// Values and derivatives of some expressions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Map {
    pub routine: Routine,
    pub tangent: Vec<Step>,
    /// Slot of the tangent of each output; `None` is zero.
    pub tangents: Vec<Option<u32>>,
    /// Columns each output depends on, ascending.
    pub rows: Vec<Columns>,
    n_columns: usize,
    /// How the Jacobian is computed, once somebody asks for it: of a large mechanism it has no zeros, and an explicit
    /// method never needs it.
    all: OnceLock<Colouring>,
    /// The same for the rows that depend on few columns.
    narrow: OnceLock<Colouring>,
}

/// Columns that are varied together.
#[derive(Clone, Debug, Default)]
struct Colouring {
    /// For each colour its columns.
    colours: Vec<Vec<u32>>,
    /// For each colour the entries it yields: (row, column).
    entries: Vec<Vec<(u32, u32)>>,
}

impl Colouring {
    fn new(rows: &[Columns], n_columns: usize) -> Self {
        let colour_of = colour(rows, n_columns);
        let n_colours = colour_of.iter().max().map_or(0, |&c| c as usize + 1);
        let mut colours = vec![Vec::new(); n_colours];
        let mut entries = vec![Vec::new(); n_colours];
        let mut is_read = vec![false; n_columns];
        for (row, columns) in rows.iter().enumerate() {
            for &column in columns.iter() {
                is_read[column as usize] = true;
                entries[colour_of[column as usize] as usize].push((row as u32, column));
            }
        }
        for (column, &colour) in colour_of.iter().enumerate().filter(|&(c, _)| is_read[c]) {
            colours[colour as usize].push(column as u32);
        }
        Colouring { colours, entries }
    }
}

/// Rows that depend on more columns than this are those of equations solved together: each column moves all of them.
const NARROW: usize = 256;

/// Outputs and columns that hang together, and with nothing else.
#[derive(Clone, Debug, Default)]
pub(crate) struct Component {
    pub rows: Vec<usize>,
    pub columns: Vec<usize>,
}

/// Splits rows, given by the columns they depend on, into parts that share no column.
pub(crate) fn components(rows: &[Columns], wanted: &[usize], n_columns: usize) -> Vec<Component> {
    let mut parent: Vec<usize> = (0..n_columns).collect();
    fn root(parent: &mut [usize], mut k: usize) -> usize {
        while parent[k] != k {
            parent[k] = parent[parent[k]];
            k = parent[k];
        }
        k
    }

    for &row in wanted {
        for pair in rows[row].windows(2) {
            let (a, b) = (
                root(&mut parent, pair[0] as usize),
                root(&mut parent, pair[1] as usize),
            );
            parent[a.max(b)] = a.min(b);
        }
    }

    let mut place: FxHashMap<usize, usize> = FxHashMap::default();
    let mut parts: Vec<Component> = Vec::new();
    for &row in wanted {
        let Some(&first) = rows[row].first() else {
            parts.push(Component {
                rows: vec![row],
                columns: Vec::new(),
            });
            continue;
        };
        let at = *place
            .entry(root(&mut parent, first as usize))
            .or_insert_with(|| {
                parts.push(Component::default());
                parts.len() - 1
            });
        parts[at].rows.push(row);
        parts[at]
            .columns
            .extend(rows[row].iter().map(|&c| c as usize));
    }

    for part in &mut parts {
        part.columns.sort_unstable();
        part.columns.dedup();
    }
    parts
}

impl Map {
    /// Makes the routines. `columns` are the first so many variables that may vary.
    pub(crate) fn new(
        emitter: &mut Emitter,
        inputs: &Inputs,
        wanted: &[ExprId],
    ) -> Result<Self, LowerError> {
        if wanted.is_empty() {
            return Ok(Map::default());
        }
        let Map {
            routine,
            tangent,
            tangents,
            ..
        } = Map::along_only(emitter, inputs, wanted)?;
        let columns: Vec<u32> = (0..inputs.n as u32).map(|k| inputs.first + k).collect();
        let rows = dependencies(&routine.steps, &columns, &routine.outputs);
        Ok(Map {
            routine,
            tangent,
            tangents,
            rows,
            n_columns: inputs.n,
            ..Map::default()
        })
    }

    /// Makes the routines for values and for [`Map::along`]; of the Jacobian it knows nothing.
    pub(crate) fn along_only(
        emitter: &mut Emitter,
        inputs: &Inputs,
        wanted: &[ExprId],
    ) -> Result<Self, LowerError> {
        if wanted.is_empty() {
            return Ok(Map::default());
        }
        let routine = emitter.routine(wanted)?;
        let mut tangents = Tangents::default();
        tangents.set(inputs.time, inputs.time_seed);
        for k in 0..inputs.n as u32 {
            tangents.set(inputs.first + k, inputs.first_seed + k);
        }
        let tangent = tangent_of(emitter, &routine.steps, &mut tangents);
        let outputs = routine.outputs.iter();
        Ok(Map {
            tangents: outputs.map(|&slot| tangents.get(slot)).collect(),
            tangent,
            routine,
            ..Map::default()
        })
    }

    /// How many runs of the tangent a Jacobian takes.
    pub(crate) fn n_colours(&self) -> usize {
        self.colouring().colours.len()
    }

    fn colouring(&self) -> &Colouring {
        let make = || Colouring::new(&self.rows, self.n_columns);
        self.all.get_or_init(make)
    }

    fn narrow_colouring(&self) -> &Colouring {
        self.narrow.get_or_init(|| {
            let none: Columns = [].into();
            let is_narrow = |row: &&Columns| row.len() <= NARROW;
            let rows = self.rows.iter();
            let rows: Vec<Columns> = rows
                .map(|row| Some(row).filter(is_narrow).unwrap_or(&none).clone())
                .collect();
            Colouring::new(&rows, self.n_columns)
        })
    }

    /// Computes the values at the point in memory.
    pub(crate) fn evaluate(&self, memory: &mut Memory) -> Result<(), Fault> {
        run(&self.routine.steps, memory)?;
        check_pivots(&self.routine, &memory.slots)
    }

    /// Gives output number k, after [`Map::evaluate`].
    pub(crate) fn value(&self, memory: &Memory, k: usize) -> f64 {
        memory.slots[self.routine.outputs[k] as usize]
    }

    /// Hands out every entry of the Jacobian, after [`Map::evaluate`].
    pub(crate) fn jacobian(
        &self,
        inputs: &Inputs,
        memory: &mut Memory,
        entry: impl FnMut(usize, usize, f64),
    ) -> Result<(), Fault> {
        self.vary(self.colouring(), inputs, memory, entry)
    }

    /// As [`Map::jacobian`], for the rows that depend on few columns.
    pub(crate) fn narrow_jacobian(
        &self,
        inputs: &Inputs,
        memory: &mut Memory,
        entry: impl FnMut(usize, usize, f64),
    ) -> Result<(), Fault> {
        self.vary(self.narrow_colouring(), inputs, memory, entry)
    }

    fn vary(
        &self,
        colouring: &Colouring,
        inputs: &Inputs,
        memory: &mut Memory,
        mut entry: impl FnMut(usize, usize, f64),
    ) -> Result<(), Fault> {
        memory.slots[inputs.time_seed as usize] = 0.0;
        let seeds = inputs.first_seed as usize..inputs.first_seed as usize + inputs.n;
        memory.slots[seeds].fill(0.0);
        for (columns, entries) in colouring.colours.iter().zip(&colouring.entries) {
            for &column in columns {
                memory.slots[(inputs.first_seed + column) as usize] = 1.0;
            }
            run(&self.tangent, memory)?;
            for &(row, column) in entries {
                let slot = self.tangents[row as usize];
                let value = slot.map_or(0.0, |slot| memory.slots[slot as usize]);
                entry(row as usize, column as usize, value);
            }
            for &column in columns {
                memory.slots[(inputs.first_seed + column) as usize] = 0.0;
            }
        }
        Ok(())
    }

    /// Computes the derivative along (ṫ, ẏ) for every output, after [`Map::evaluate`].
    pub(crate) fn along(
        &self,
        inputs: &Inputs,
        memory: &mut Memory,
        direction: (f64, Option<&[f64]>),
        mut output: impl FnMut(usize, f64),
    ) -> Result<(), Fault> {
        memory.slots[inputs.time_seed as usize] = direction.0;
        let seeds = inputs.first_seed as usize..inputs.first_seed as usize + inputs.n;
        match direction.1 {
            Some(dy) => memory.slots[seeds].copy_from_slice(dy),
            None => memory.slots[seeds].fill(0.0),
        }
        run(&self.tangent, memory)?;
        for (k, slot) in self.tangents.iter().enumerate() {
            output(k, slot.map_or(0.0, |slot| memory.slots[slot as usize]));
        }
        Ok(())
    }
}

/// A pivot below this share of its column is rounding noise; as in `dense`, for at most 4 rows.
pub(crate) const SMALLEST_PIVOT: f64 = 16.0 * f64::EPSILON;

/// Finds blocks written out as assignments that have become singular.
pub(crate) fn check_pivots(routine: &Routine, slots: &[f64]) -> Result<(), Fault> {
    for &(block, pivot, scale) in &routine.checks {
        let (pivot, scale) = (slots[pivot as usize], slots[scale as usize]);
        if pivot.abs() <= SMALLEST_PIVOT * scale {
            return Err(Fault::Singular(block));
        }
    }
    Ok(())
}
