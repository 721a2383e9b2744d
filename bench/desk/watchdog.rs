// A watchdog that sleeps until work has been reported or it is told to stop.
//
// Bug: stop() sets an atomic flag and notifies without the mutex that the watchdog waits with: between its look and its
//   wait the notice is lost.
// Shows as: deadlock.
// fixed: stop() takes the mutex.
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

struct Watchdog {
    stopped: AtomicBool,
    reports: Mutex<HashMap<String, usize>>,
    news: Condvar,
}

impl Watchdog {
    fn new() -> Self {
        Watchdog { stopped: AtomicBool::new(false), reports: Mutex::new(HashMap::new()), news: Condvar::new() }
    }

    fn report(&self, who: &str) {
        let mut reports = self.reports.lock().unwrap();
        *reports.entry(who.to_string()).or_insert(0) += 1;
        self.news.notify_one();
    }

    fn stop(&self) {
        if cfg!(fixed) {
            let _guard = self.reports.lock().unwrap();
            self.stopped.store(true, Ordering::SeqCst);
            self.news.notify_one();
            return;
        }
        self.stopped.store(true, Ordering::SeqCst);
        self.news.notify_one(); // culprit
    }

    fn watch(&self) -> usize {
        let mut seen = 0;
        let mut reports = self.reports.lock().unwrap(); // culprit
        loop {
            seen += reports.drain().map(|(_, count)| count).sum::<usize>();
            if self.stopped.load(Ordering::SeqCst) {
                return seen;
            }
            reports = self.news.wait(reports).unwrap(); // culprit
        }
    }
}

struct Worker {
    name: String,
    steps: usize,
}

impl Worker {
    fn run(&self, watchdog: &Watchdog) {
        for _ in 0..self.steps {
            watchdog.report(&self.name);
        }
    }
}

fn main() {
    let watchdog = Arc::new(Watchdog::new());
    let watching = {
        let watchdog = Arc::clone(&watchdog);
        thread::spawn(move || watchdog.watch())
    };
    let workers: Vec<_> = ["reader", "writer"]
        .iter()
        .map(|name| {
            let watchdog = Arc::clone(&watchdog);
            let worker = Worker { name: name.to_string(), steps: 2 };
            thread::spawn(move || worker.run(&watchdog))
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
    watchdog.stop();
    let seen = watching.join().unwrap();
    assert_eq!(seen, 4);
    println!("{} reports", seen);
}
