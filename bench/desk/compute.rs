// Results that are kept: who finds none computes it, and keeps it.
//
// Bug: the look and the keeping are two sections: two threads compute the same.
// Shows as: a failed assertion: it was computed twice.
// fixed: an entry that is being computed is marked.
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

#[derive(Default)]
struct Results {
    known: Mutex<HashMap<u64, Option<u64>>>,
    changed: Condvar,
    computed: AtomicUsize,
}

impl Results {
    fn compute(&self, of: u64) -> u64 {
        self.computed.fetch_add(1, Ordering::SeqCst);
        (1..=of).product()
    }

    fn look(&self, of: u64) -> Option<u64> {
        let mut known = self.known.lock().unwrap(); // culprit
        if cfg!(fixed) {
            loop {
                match known.get(&of) {
                    Some(Some(result)) => return Some(*result),
                    Some(None) => known = self.changed.wait(known).unwrap(),
                    None => break,
                }
            }
            known.insert(of, None);
            return None;
        }
        known.get(&of).copied().flatten()
    }

    fn keep(&self, of: u64, result: u64) {
        let mut known = self.known.lock().unwrap(); // culprit
        known.insert(of, Some(result));
        self.changed.notify_all();
    }

    fn get(&self, of: u64) -> u64 {
        if let Some(result) = self.look(of) {
            return result;
        }
        let result = self.compute(of);
        self.keep(of, result);
        result
    }
}

fn main() {
    let results = Arc::new(Results::default());
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let results = results.clone();
            thread::spawn(move || (results.get(5), results.get(6)))
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), (120, 720));
    }
    assert_eq!(results.computed.load(Ordering::SeqCst), 2);
}
