//! Lets Python look in on long work: signals such as Ctrl-C, and a progress call.
//!
//! The engine asks after every step whether it may go on; taking the interpreter lock that often would
//! cost more than the steps, so Python is asked a few times a second. Python hears of signals in the thread that
//! called; where the engine works in threads of its own, [`Watch::during`] lets that thread look while it waits.

use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

/// How often Python is asked: quick for a person, rare for the engine.
const PAUSE: Duration = Duration::from_millis(50);

/// Asks Python now and then whether work may go on.
pub struct Watch {
    state: Mutex<State>,
    progress: Option<Py<PyAny>>,
}

struct State {
    next: Instant,
    stopped: Option<PyErr>,
}

impl Watch {
    /// With a function that is called with the share of the work that is done.
    pub fn new(progress: Option<Py<PyAny>>) -> Self {
        let state = State {
            next: Instant::now() + PAUSE,
            stopped: None,
        };
        Watch {
            state: Mutex::new(state),
            progress,
        }
    }

    /// Asked by the engine, with the share that is done.
    pub fn look(&self, share: f64) -> ControlFlow<()> {
        // Another thread that is asking at this moment asks for all.
        let Ok(mut state) = self.state.try_lock() else {
            return ControlFlow::Continue(());
        };
        if state.stopped.is_some() {
            return ControlFlow::Break(());
        }
        if Instant::now() < state.next {
            return ControlFlow::Continue(());
        }
        let answer = Python::attach(|py| {
            py.check_signals()?;
            match &self.progress {
                Some(call) => call.call1(py, (share,)).map(|_| ()),
                None => Ok(()),
            }
        });
        state.next = Instant::now() + PAUSE;
        match answer {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                state.stopped = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Does work in another thread and looks meanwhile. The work is given a question, may it go on, and tells
    /// with it how many of `n` parts are done.
    pub fn during<T: Send>(
        &self,
        n: usize,
        work: impl FnOnce(&(dyn Fn(usize) -> ControlFlow<()> + Sync)) -> T + Send,
    ) -> T {
        let (n_done, must_stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let may_go_on = |done: usize| {
            n_done.fetch_max(done, Ordering::Relaxed);
            match must_stop.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let (send, receive) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // The receiver waits for this; if it is gone, so is whoever wants the result.
                let _ = send.send(work(&may_go_on));
            });
            loop {
                match receive.recv_timeout(PAUSE) {
                    Ok(done) => return done,
                    Err(mpsc::RecvTimeoutError::Timeout) => {}
                    Err(mpsc::RecvTimeoutError::Disconnected) => {
                        panic!("the engine ended without a result")
                    }
                }
                let share = n_done.load(Ordering::Relaxed) as f64 / n.max(1) as f64;
                if self.look(share).is_break() {
                    must_stop.store(true, Ordering::Relaxed);
                }
            }
        })
    }

    /// Why the work was stopped, if it was: Ctrl-C, or an exception in the progress call.
    pub fn stopped(self) -> Option<PyErr> {
        self.state.into_inner().map_or(None, |state| state.stopped)
    }
}
