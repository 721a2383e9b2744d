// Settings with a cache: what is not there is read and put there.
//
// Bug: the guard of the look lives to the end of the `match`, in which the lock is taken again.
// Shows as: a deadlock, if nobody else has put it there.
// fixed: the guard ends before.
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;

struct Cache {
    entries: Mutex<HashMap<&'static str, usize>>,
}

impl Cache {
    fn get(&self, name: &'static str) -> usize {
        if cfg!(fixed) {
            let found = self.entries.lock().unwrap().get(name).copied();
            return match found {
                Some(value) => value,
                None => self.read(name),
            };
        }
        match self.entries.lock().unwrap().get(name).copied() { // culprit
            Some(value) => value,
            None => self.read(name),
        }
    }

    fn read(&self, name: &'static str) -> usize {
        let value = name.len();
        self.entries.lock().unwrap().insert(name, value); // culprit
        value
    }
}

fn main() {
    let cache = Arc::new(Cache { entries: Mutex::new(HashMap::new()) });
    let loader = {
        let cache = cache.clone();
        thread::spawn(move || {
            for name in ["user", "path"] {
                cache.read(name);
            }
        })
    };
    let sum = cache.get("path") + cache.get("user");
    loader.join().unwrap();
    assert_eq!(sum, 8);
}
