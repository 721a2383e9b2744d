// A configuration that is loaded when it is first asked for.
//
// Bug: it is said to be loaded before it is there; who asks in between finds none.
// Shows as: a panic.
// fixed: it is said when it is there, under one lock.
use std::sync::{Arc, Mutex};
use std::thread;

struct Config {
    begun: Mutex<bool>,
    value: Mutex<Option<u32>>,
}

impl Config {
    fn get(&self) -> u32 {
        let mut begun = self.begun.lock().unwrap(); // culprit
        if !*begun {
            *begun = true;
            if !cfg!(fixed) {
                drop(begun);
            }
            *self.value.lock().unwrap() = Some(42); // culprit
            return 42;
        }
        drop(begun);
        self.value.lock().unwrap().expect("it is not loaded") // culprit
    }
}

fn main() {
    let config = Arc::new(Config { begun: Mutex::new(false), value: Mutex::new(None) });
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let config = Arc::clone(&config);
            thread::spawn(move || config.get())
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), 42);
    }
}
