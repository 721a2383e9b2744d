// A worker with a queue, and a flag that says that it shall stop.
//
// Bug: the flag is set and the worker is woken without the queue's lock: it may have looked, and not wait yet.
// Shows as: a deadlock: the worker is not woken.
// fixed: the flag is set under the lock.
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

#[derive(Default)]
struct Worker {
    jobs: Mutex<VecDeque<u32>>,
    changed: Condvar,
    stopped: AtomicBool,
    done: Mutex<u32>,
}

impl Worker {
    fn next(&self) -> Option<u32> {
        let mut jobs = self.jobs.lock().unwrap();
        loop {
            if let Some(job) = jobs.pop_front() {
                return Some(job);
            }
            if self.stopped.swap(false, Ordering::SeqCst) {
                return None;
            }
            jobs = self.changed.wait(jobs).unwrap(); // culprit
        }
    }

    fn run(&self) {
        while let Some(job) = self.next() {
            *self.done.lock().unwrap() += job;
        }
    }

    fn add(&self, job: u32) {
        let mut jobs = self.jobs.lock().unwrap();
        jobs.push_back(job);
        self.changed.notify_one();
    }

    fn stop(&self) {
        let guard = if cfg!(fixed) { Some(self.jobs.lock().unwrap()) } else { None };
        self.stopped.swap(true, Ordering::SeqCst); // culprit
        self.changed.notify_one(); // culprit
        drop(guard);
    }
}

fn main() {
    let worker = Arc::new(Worker::default());
    let thread = {
        let worker = worker.clone();
        thread::spawn(move || worker.run())
    };
    worker.add(1);
    worker.add(2);
    worker.stop();
    thread.join().unwrap();
    println!("{}", worker.done.lock().unwrap());
}
