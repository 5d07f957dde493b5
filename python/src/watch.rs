//! Lets Python look in on long work: signals such as Ctrl-C, and a progress call.
//!
//! The engine asks after every step whether it may go on; taking the interpreter lock that often would
//! cost more than the steps, so Python is asked a few times a second. Python hears of signals in the thread that
//! called; where the engine works in threads of its own, [`Watch::during`] lets that thread look while it waits.

use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
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
        self.look_and_tell(|py, call| call.call1(py, (share,)).map(|_| ()))
    }

    /// Asks Python, if it is time to; `tell` calls the progress function.
    fn look_and_tell(
        &self,
        tell: impl Fn(Python<'_>, &Py<PyAny>) -> PyResult<()>,
    ) -> ControlFlow<()> {
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
                Some(call) => tell(py, call),
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

    /// Does work in another thread and looks meanwhile. The work is given a flag: it must stop once that is set.
    pub fn during<T: Send>(
        &self,
        work: impl FnOnce(&AtomicBool) -> T + Send,
        tell: impl Fn(Python<'_>, &Py<PyAny>) -> PyResult<()>,
    ) -> T {
        let must_stop = AtomicBool::new(false);
        let (send, receive) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // The receiver waits for this; if it is gone, so is whoever wants the result.
                let _ = send.send(work(&must_stop));
            });
            loop {
                match receive.recv_timeout(PAUSE) {
                    Ok(done) => return done,
                    Err(mpsc::RecvTimeoutError::Timeout) => {}
                    Err(mpsc::RecvTimeoutError::Disconnected) => {
                        panic!("the engine ended without a result")
                    }
                }
                if self.look_and_tell(&tell).is_break() {
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

/// Tells the engine to go on, or to stop once the flag is set.
pub fn go_on(must_stop: &AtomicBool) -> ControlFlow<()> {
    match must_stop.load(Ordering::Relaxed) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    }
}
