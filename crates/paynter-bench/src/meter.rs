//! Time, memory and medians.
//!
//! In:  work to measure.
//! Out: seconds; the median of interleaved repetitions, so that a noisy neighbour disturbs all alike.

use std::time::Instant;

/// Clock ticks per second in `/proc`; 100 on every Linux of today.
const TICKS: f64 = 100.0;

/// CPU seconds of this process, all threads, to 10 ms; 0 where `/proc` does not tell.
pub fn cpu() -> f64 {
    let Ok(text) = std::fs::read_to_string("/proc/self/stat") else {
        return 0.0;
    };
    // The name in parentheses may hold blanks; user and system time are fields 14 and 15.
    let rest = text.rsplit(')').next().unwrap_or_default();
    let ticks = |place: usize| {
        let field = rest.split_whitespace().nth(place);
        field.and_then(|x| x.parse::<f64>().ok()).unwrap_or(0.0)
    };
    (ticks(11) + ticks(12)) / TICKS
}

/// Resident memory, MB; 0 where `/proc` does not tell.
pub fn memory() -> f64 {
    status("VmRSS")
}

/// The most memory that was ever resident, MB; 0 where `/proc` does not tell.
pub fn highest_memory() -> f64 {
    status("VmHWM")
}

fn status(what: &str) -> f64 {
    let Ok(text) = std::fs::read_to_string("/proc/self/status") else {
        return 0.0;
    };
    let line = text.lines().find(|l| l.starts_with(what));
    let number = line.and_then(|l| l.split_whitespace().nth(1));
    number.and_then(|x| x.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

/// Seconds on the clock that `work` takes.
pub fn clock<R>(work: impl FnOnce() -> R) -> (f64, R) {
    let begin = Instant::now();
    let result = work();
    (begin.elapsed().as_secs_f64(), result)
}

/// CPU seconds of this thread, to the nanosecond; none where `/proc` does not tell.
fn thread_cpu() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds * 1e-9)
}

/// CPU seconds that `work` takes on this thread: what a neighbour does on the same core does not count. Seconds on the
/// clock where `/proc` does not tell.
pub fn cpu_clock<R>(work: impl FnOnce() -> R) -> (f64, R) {
    let begin = thread_cpu();
    let (time, result) = clock(work);
    match (begin, thread_cpu()) {
        (Some(begin), Some(end)) => (end - begin, result),
        _ => (time, result),
    }
}

/// The middle one.
pub fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Median time of each piece of work, repeated in turn.
pub fn interleave(repetitions: usize, work: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let mut times = vec![Vec::with_capacity(repetitions); work.len()];
    for _ in 0..repetitions {
        for (times, work) in times.iter_mut().zip(work.iter_mut()) {
            times.push(clock(&mut *work).0);
        }
    }
    times.iter_mut().map(|t| median(t)).collect()
}
