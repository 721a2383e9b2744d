// An editor's history: one thread types, another undoes.
//
// Bug: the place in the history is an atomic beside the list, which has its own lock: it is moved on before the entry
// is there.
// Shows as: a panic: an index that is out of bounds.
// fixed: it is moved on under the lock, behind the entry.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

struct History {
    entries: Mutex<Vec<String>>,
    place: AtomicUsize,
}

impl History {
    fn record(&self, text: &str) {
        if cfg!(fixed) {
            let mut entries = self.entries.lock().unwrap();
            let place = self.place.load(Ordering::SeqCst);
            entries.truncate(place);
            entries.push(text.to_string());
            self.place.store(place + 1, Ordering::SeqCst);
            return;
        }
        let place = self.place.fetch_add(1, Ordering::SeqCst); // culprit
        let mut entries = self.entries.lock().unwrap(); // culprit
        entries.truncate(place);
        entries.push(text.to_string());
    }

    fn undo(&self) -> Option<String> {
        let entries = self.entries.lock().unwrap(); // culprit
        let place = self.place.load(Ordering::SeqCst); // culprit
        if place == 0 {
            return None;
        }
        self.place.store(place - 1, Ordering::SeqCst);
        Some(entries[place - 1].clone())
    }
}

fn main() {
    let history = Arc::new(History { entries: Mutex::new(Vec::new()), place: AtomicUsize::new(0) });
    let typing = {
        let history = Arc::clone(&history);
        thread::spawn(move || {
            for word in ["one", "two", "three"] {
                history.record(word);
            }
        })
    };
    let undoing = {
        let history = Arc::clone(&history);
        thread::spawn(move || (0..2).filter(|_| history.undo().is_some()).count())
    };
    typing.join().unwrap();
    println!("{} undone", undoing.join().unwrap());
}
