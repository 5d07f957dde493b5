//! The plots of a run while it goes on.
//!
//! In:  rows as they are recorded.
//! Out: the plots that the experiment asks for, as far as the run has come.
//!
//! **Invariant:** looking takes at most a twentieth of the time of the run, however many rows there are.

use crate::experiment::{Drawn, plots};
use crate::layout::Layout;
use paynter_draw::plot::Plot;
use paynter_model::BondGraph;
use paynter_model::experiment::Plan;
use paynter_run::recorder::{Onlooker, Rows};
use paynter_run::simulate::to_table;
use paynter_run::table::Table;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The next look is so many times later than the last one took.
const PAUSE: u32 = 19;

/// Sees the plots of a run from time to time.
#[derive(Clone)]
pub struct Watch {
    first: Duration,
    every: Duration,
    see: Arc<dyn Fn(Vec<Plot>) + Send + Sync>,
}

impl Watch {
    /// Calls `see` with the plots so far, `first` after the run began and then `every` so often, or as often as the
    /// number of rows allows. Most runs are over before.
    pub fn new(
        first: Duration,
        every: Duration,
        see: impl Fn(Vec<Plot>) + Send + Sync + 'static,
    ) -> Self {
        Watch {
            first,
            every,
            see: Arc::new(see),
        }
    }

    pub(crate) fn onlooker(&self, watched: Watched) -> Onlooker {
        let (every, see) = (self.every, self.see.clone());
        let next = Mutex::new(Instant::now() + self.first);
        Onlooker::new(move |rows, event_times| {
            let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
            let begin = Instant::now();
            if begin < *next {
                return;
            }
            see(watched.plots(rows, event_times));
            *next = Instant::now() + every.max(PAUSE * begin.elapsed());
        })
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("every", &self.every).finish()
    }
}

/// What the plots of a run are made of beside its rows.
pub(crate) struct Watched {
    pub plan: Plan,
    pub layout: Layout,
    pub references: Vec<Table>,
    pub graph: Arc<BondGraph>,
}

impl Watched {
    fn plots(&self, rows: &Rows, event_times: &[f64]) -> Vec<Plot> {
        let table = to_table(rows, &self.layout.wanted);
        let drawn = Drawn {
            table: &table,
            event_times,
        };
        plots(
            &self.plan,
            &drawn,
            (&self.layout, &self.references),
            &self.graph,
        )
    }
}
