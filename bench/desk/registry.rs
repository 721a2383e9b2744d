// Names that are given to whoever asks first.
//
// Bug: whether a name is free is looked at in one section, and it is taken in the next.
// Shows as: a panic: a name is given twice.
// fixed: one section does both.
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Registry {
    names: Mutex<HashMap<String, usize>>,
}

impl Registry {
    fn is_free(&self, name: &str) -> bool {
        !self.names.lock().unwrap().contains_key(name) // culprit
    }

    fn take(&self, name: &str, owner: usize) {
        let before = self.names.lock().unwrap().insert(name.to_string(), owner); // culprit
        assert!(before.is_none(), "{} is given twice", name);
    }

    fn register(&self, name: &str, owner: usize) -> bool {
        if cfg!(fixed) {
            let mut names = self.names.lock().unwrap();
            if names.contains_key(name) {
                return false;
            }
            names.insert(name.to_string(), owner);
            return true;
        }
        if !self.is_free(name) {
            return false;
        }
        self.take(name, owner);
        true
    }
}

fn main() {
    let registry = Arc::new(Registry::default());
    let threads: Vec<_> = (0..3)
        .map(|owner| {
            let registry = Arc::clone(&registry);
            thread::spawn(move || registry.register(["blue", "red"][owner % 2], owner))
        })
        .collect();
    let given = threads.into_iter().map(|t| t.join().is_ok()).filter(|ok| *ok).count();
    assert_eq!(given, 3);
}
