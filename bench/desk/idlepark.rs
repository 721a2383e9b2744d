// An executor whose workers put themselves on a list when they find nothing to do, and park.
//
// Bug: what comes between that look and the list finds nobody there to wake.
// Shows as: a deadlock: a worker parks for ever.
// fixed: it looks again when it is on the list.
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::thread::{self, Thread};

type Job = Box<dyn FnOnce() -> u32 + Send>;

struct Shared {
    queue: Mutex<VecDeque<Job>>,
    idle: Mutex<Vec<Thread>>,
    results: Mutex<Vec<u32>>,
    closed: Mutex<bool>,
}

impl Shared {
    fn new() -> Self {
        Shared {
            queue: Mutex::new(VecDeque::new()),
            idle: Mutex::new(Vec::new()),
            results: Mutex::new(Vec::new()),
            closed: Mutex::new(false),
        }
    }

    fn take(&self) -> Option<Job> {
        self.queue.lock().unwrap().pop_front() // culprit
    }

    fn is_closed(&self) -> bool {
        *self.closed.lock().unwrap() // culprit
    }

    fn push(&self, job: Job) {
        self.queue.lock().unwrap().push_back(job);
        let sleeper = self.idle.lock().unwrap().pop(); // culprit
        if let Some(t) = sleeper {
            t.unpark();
        }
    }

    fn close(&self) {
        *self.closed.lock().unwrap() = true; // culprit
        for t in self.idle.lock().unwrap().drain(..) { // culprit
            t.unpark();
        }
    }

    #[cfg(not(fixed))]
    fn sleep(&self) {
        self.idle.lock().unwrap().push(thread::current()); // culprit
        thread::park();
    }

    // Looks again once it is on the list: who pushes after that finds it there.
    #[cfg(fixed)]
    fn sleep(&self) {
        self.idle.lock().unwrap().push(thread::current());
        if self.queue.lock().unwrap().is_empty() && !self.is_closed() {
            thread::park();
        }
    }

    fn work(&self) {
        loop {
            match self.take() {
                Some(job) => {
                    let r = job();
                    self.results.lock().unwrap().push(r);
                }
                None => {
                    if self.is_closed() {
                        return;
                    }
                    self.sleep();
                }
            }
        }
    }
}

fn fib(n: u32) -> u32 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

fn main() {
    let shared = Arc::new(Shared::new());
    let mut workers = Vec::new();
    for _ in 0..2 {
        let s = shared.clone();
        workers.push(thread::spawn(move || s.work()));
    }
    for n in 1..4 {
        shared.push(Box::new(move || fib(n)));
    }
    shared.close();
    for w in workers {
        w.join().unwrap();
    }
    let r = shared.results.lock().unwrap();
    println!("{} results, sum {}", r.len(), r.iter().sum::<u32>());
    assert_eq!(r.len(), 3);
}
