// Sessions that expire: a sweeper removes those whose time is up, unless they have been used meanwhile.
//
// Bug: the sweeper collects the names in one section, and removes them in another.
// Shows as: a panic: a session that has just been renewed is gone.
// fixed: it looks once more before it removes.
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Sessions {
    all: Mutex<HashMap<u32, u32>>,
    log: Mutex<Vec<u32>>,
}

impl Sessions {
    fn renew(&self, name: u32) -> bool {
        match self.all.lock().unwrap().get_mut(&name) { // culprit
            Some(left) => {
                *left = 3;
                true
            }
            None => false,
        }
    }

    fn use_it(&self, name: u32) {
        self.log.lock().unwrap().push(name);
        assert!(self.all.lock().unwrap().contains_key(&name), "session {} is gone", name);
    }

    fn expired(&self) -> Vec<u32> {
        let mut all = self.all.lock().unwrap(); // culprit
        for left in all.values_mut() {
            *left = left.saturating_sub(1);
        }
        all.iter().filter(|(_, left)| **left == 0).map(|(name, _)| *name).collect()
    }

    fn remove(&self, name: u32) {
        let mut all = self.all.lock().unwrap(); // culprit
        if cfg!(fixed) && all.get(&name) != Some(&0) {
            return;
        }
        all.remove(&name);
    }

    fn sweep(&self) {
        for name in self.expired() {
            self.remove(name);
        }
    }
}

fn main() {
    let sessions = Arc::new(Sessions::default());
    for name in 0..2 {
        sessions.all.lock().unwrap().insert(name, 1 + name);
    }
    let sweeper = {
        let sessions = sessions.clone();
        thread::spawn(move || sessions.sweep())
    };
    if sessions.renew(0) {
        sessions.use_it(0);
    }
    sweeper.join().unwrap();
}
