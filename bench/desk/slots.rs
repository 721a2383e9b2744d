// A limit on how many requests run at once.
//
// Bug: the look at the number and its rise are two steps.
// Shows as: a panic: more run than may.
// fixed: a compare-and-exchange.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

const MOST: usize = 1;

struct Limiter {
    running: AtomicUsize,
    refused: Mutex<usize>,
}

impl Limiter {
    fn enter(&self) -> bool {
        if cfg!(fixed) {
            return self
                .running
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| if n < MOST { Some(n + 1) } else { None })
                .is_ok();
        }
        if self.running.load(Ordering::SeqCst) >= MOST { // culprit
            return false;
        }
        self.running.fetch_add(1, Ordering::SeqCst); // culprit
        true
    }

    fn leave(&self) {
        let before = self.running.fetch_sub(1, Ordering::SeqCst);
        assert!(before <= MOST, "{} ran at once", before);
    }
}

fn request(limiter: &Limiter) {
    if limiter.enter() {
        thread::yield_now();
        limiter.leave();
    } else {
        *limiter.refused.lock().unwrap() += 1;
    }
}

fn main() {
    let limiter = Arc::new(Limiter { running: AtomicUsize::new(0), refused: Mutex::new(0) });
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let limiter = Arc::clone(&limiter);
            thread::spawn(move || request(&limiter))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert!(*limiter.refused.lock().unwrap() < 3);
}
