// A pipeline with back-pressure: two producers put items into a buffer of one place, two consumers take them out.
//
// Bug: one condition variable for both kinds, and notify_one: a producer may wake a producer.
// Shows as: a deadlock.
// fixed: notify_all.
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

struct Buffer {
    items: Mutex<Vec<u32>>,
    changed: Condvar,
}

impl Buffer {
    fn tell(&self) {
        if cfg!(fixed) {
            self.changed.notify_all();
        } else {
            self.changed.notify_one(); // culprit
        }
    }

    fn put(&self, item: u32) {
        let mut items = self.items.lock().unwrap();
        while items.len() == 1 {
            items = self.changed.wait(items).unwrap(); // culprit
        }
        items.push(item);
        self.tell(); // culprit
    }

    fn take(&self) -> u32 {
        let mut items = self.items.lock().unwrap();
        while items.is_empty() {
            items = self.changed.wait(items).unwrap(); // culprit
        }
        let item = items.pop().unwrap();
        self.tell(); // culprit
        item
    }
}

fn main() {
    let buffer = Arc::new(Buffer { items: Mutex::new(Vec::new()), changed: Condvar::new() });
    let mut threads = Vec::new();
    for number in 0..2 {
        let one = Arc::clone(&buffer);
        threads.push(thread::spawn(move || (0..2).for_each(|i| one.put(number * 2 + i))));
        let other = Arc::clone(&buffer);
        threads.push(thread::spawn(move || {
            (0..2).for_each(|_| {
                other.take();
            })
        }));
    }
    for thread in threads {
        thread.join().unwrap();
    }
}
