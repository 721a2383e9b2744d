// Settings that threads read, and that one reloads.
//
// Bug: a reader that holds the lock calls a function that takes it again; a writer that comes between is let in first.
// Shows as: a deadlock.
// fixed: the function is given what has been read.
use std::collections::HashMap;
use std::sync::{Arc, RwLock};
use std::thread;

struct Settings {
    values: RwLock<HashMap<String, u32>>,
}

impl Settings {
    fn new() -> Settings {
        let mut values = HashMap::new();
        values.insert("retries".to_string(), 3);
        values.insert("timeout".to_string(), 30);
        Settings { values: RwLock::new(values) }
    }

    fn get(&self, name: &str) -> u32 {
        let values = self.values.read().unwrap(); // culprit
        values.get(name).copied().unwrap_or(0)
    }

    fn budget(&self) -> u32 {
        let values = self.values.read().unwrap(); // culprit
        let retries = values.get("retries").copied().unwrap_or(1);
        if cfg!(fixed) {
            retries * values.get("timeout").copied().unwrap_or(0)
        } else {
            retries * self.get("timeout")
        }
    }

    fn reload(&self, retries: u32) {
        let mut values = self.values.write().unwrap(); // culprit
        values.insert("retries".to_string(), retries);
    }
}

fn main() {
    let settings = Arc::new(Settings::new());
    let mut threads = Vec::new();
    for _ in 0..2 {
        let settings = Arc::clone(&settings);
        threads.push(thread::spawn(move || {
            let mut sum = 0;
            for _ in 0..2 {
                sum += settings.budget();
            }
            sum
        }));
    }
    let writer = Arc::clone(&settings);
    threads.push(thread::spawn(move || {
        writer.reload(5);
        0
    }));
    for thread in threads {
        thread.join().unwrap();
    }
}
