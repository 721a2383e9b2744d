// A flag that says that a download is over, for who wants to wait for it.
//
// Bug: it is set, and told, without the mutex, between the look and the wait of the other.
// Shows as: a deadlock.
// fixed: with it.
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

#[derive(Default)]
struct Download {
    over: AtomicBool,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Download {
    fn finish(&self) {
        let guard = if cfg!(fixed) { Some(self.lock.lock().unwrap()) } else { None };
        self.over.store(true, Ordering::SeqCst);
        self.changed.notify_all(); // culprit
        drop(guard);
    }

    fn wait(&self) {
        let mut guard = self.lock.lock().unwrap(); // culprit
        while !self.over.load(Ordering::SeqCst) {
            guard = self.changed.wait(guard).unwrap(); // culprit
        }
    }
}

fn main() {
    let download = Arc::new(Download::default());
    let threads: Vec<_> = (0..2)
        .map(|i| {
            let download = download.clone();
            thread::spawn(move || if i == 0 { download.finish() } else { download.wait() })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}
