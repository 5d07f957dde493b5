//! Work on several threads whose results come in the order of the work.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maps all items on up to `jobs` threads; the results are in the order of the items.
pub fn map<I: Sync, R: Send>(
    jobs: usize,
    items: &[I],
    work: impl Fn(usize, &I) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<R>>> = Mutex::new(items.iter().map(|_| None).collect());
    let take = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else {
                return;
            };
            let result = work(number, item);
            results.lock().expect("no thread panics with the list")[number] = Some(result);
        }
    };

    if jobs <= 1 || items.len() <= 1 {
        take();
    } else {
        std::thread::scope(|scope| {
            for _ in 0..jobs.min(items.len()) {
                scope.spawn(take);
            }
        });
    }

    let results = results.into_inner().expect("all threads have ended");
    let filled = results
        .into_iter()
        .map(|r| r.expect("every item was taken once"));
    filled.collect()
}
