// Several workers add to a report, each with a handle of its own; whoever gives back the last one prints it.
//
// Bug: Arc::try_unwrap() gives the handle back if there are others. Two who end at the same time both find another one,
// then drop theirs, and nobody prints.
// Shows as: a panic: nothing was printed.
// FIXED: Arc::into_inner(), of which exactly one succeeds.
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

static PRINTED: AtomicBool = AtomicBool::new(false);

struct Report {
    lines: Mutex<Vec<String>>,
}

#[cfg(fixed)]
fn last(report: Arc<Report>) -> Option<Report> {
    Arc::into_inner(report)
}

#[cfg(not(fixed))]
fn last(report: Arc<Report>) -> Option<Report> {
    Arc::try_unwrap(report).ok() // culprit
}

fn work(report: Arc<Report>, number: usize) {
    report.lines.lock().unwrap().push(format!("worker {number}"));
    if let Some(report) = last(report) {
        println!("{} lines", report.lines.into_inner().unwrap().len());
        PRINTED.store(true, Ordering::SeqCst);
    }
}

fn main() {
    let handles = vec![Arc::new(Report { lines: Mutex::new(Vec::new()) }); 3];
    let mut workers = Vec::new();
    for (number, report) in handles.into_iter().enumerate() {
        workers.push(thread::spawn(move || work(report, number)));
    }
    for worker in workers {
        worker.join().unwrap();
    }
    assert!(PRINTED.load(Ordering::SeqCst));
}
