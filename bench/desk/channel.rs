// A bounded channel with one condition variable.
//
// Bug: notify_one() where senders and receivers wait on the same one: it may wake one of the wrong kind.
// Shows as: a deadlock.
// fixed: notify_all().
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

struct Channel {
    queue: Mutex<VecDeque<u32>>,
    changed: Condvar,
    room: usize,
}

impl Channel {
    fn new(room: usize) -> Channel {
        Channel { queue: Mutex::new(VecDeque::new()), changed: Condvar::new(), room }
    }

    fn tell(&self) {
        if cfg!(fixed) {
            self.changed.notify_all();
        } else {
            self.changed.notify_one(); // culprit
        }
    }

    fn send(&self, item: u32) {
        let mut queue = self.queue.lock().unwrap();
        while queue.len() == self.room {
            queue = self.changed.wait(queue).unwrap(); // culprit
        }
        queue.push_back(item);
        self.tell(); // culprit
    }

    fn receive(&self) -> u32 {
        let mut queue = self.queue.lock().unwrap();
        while queue.is_empty() {
            queue = self.changed.wait(queue).unwrap(); // culprit
        }
        let item = queue.pop_front().unwrap();
        self.tell(); // culprit
        item
    }
}

fn main() {
    let channel = Arc::new(Channel::new(1));
    let mut threads = Vec::new();
    for first in [10, 20] {
        let channel = Arc::clone(&channel);
        threads.push(thread::spawn(move || {
            for i in 0..2 {
                channel.send(first + i);
            }
        }));
    }
    for _ in 0..2 {
        let channel = Arc::clone(&channel);
        threads.push(thread::spawn(move || {
            for _ in 0..2 {
                assert!(channel.receive() > 0);
            }
        }));
    }
    for thread in threads {
        thread.join().unwrap();
    }
}
