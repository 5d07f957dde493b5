//! How far locks gave way in a run.
//!
//! In:  the locks of a compiled model, and the columns of a run that hold their positions.
//! Out: the largest position of each lock over the recorded times: zero for a lock that holds.

use crate::spec::Wanted;
use crate::table::Column;
use paynter_design::compile::Lock;
use paynter_symbolic::ExprId;

/// The largest distance of a lock from where it should hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Gap {
    /// The lock.
    pub lock: String,
    /// The distance, m or rad.
    pub size: f64,
    /// It is an angle.
    pub is_turning: bool,
}

impl Gap {
    /// The unit of the distance.
    pub fn unit(&self) -> &'static str {
        if self.is_turning { "rad" } else { "m" }
    }
}

/// Columns that hold the positions of locks.
pub fn wanted(locks: &[Lock]) -> impl Iterator<Item = Wanted> {
    let of_lock = |lock: &Lock| in_si(lock.name.clone(), lock.position);
    locks.iter().map(of_lock)
}

/// The column of the energy that gaps are compared with.
pub fn energy(value: ExprId) -> Wanted {
    in_si("energy".to_owned(), value)
}

fn in_si(name: String, value: ExprId) -> Wanted {
    Wanted {
        name,
        value,
        unit: String::new(),
        factor: 1.0,
        offset: 0.0,
    }
}

/// Reads the gaps off these columns.
pub fn read(locks: &[Lock], columns: &[Column]) -> Vec<Gap> {
    let largest = |c: &Column| c.values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let locks = locks.iter().zip(columns);
    locks
        .map(|(lock, column)| Gap {
            lock: lock.name.clone(),
            size: largest(column),
            is_turning: lock.is_turning,
        })
        .collect()
}

/// The largest of the sliding and of the turning gaps.
pub fn worst(gaps: &[Gap]) -> Vec<&Gap> {
    let of_kind = |is_turning: bool| {
        let alike = gaps.iter().filter(|g| g.is_turning == is_turning);
        alike.max_by(|a, b| a.size.total_cmp(&b.size))
    };
    [false, true].into_iter().filter_map(of_kind).collect()
}
