// A desk hands out tickets to clerks, who wait until there is one.
//
// Bug: who is woken takes one without a second look (if, not while).
// Shows as: a panic.
// fixed: it looks again.
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

struct Desk {
    tickets: Mutex<VecDeque<u32>>,
    some: Condvar,
}

impl Desk {
    fn put(&self, ticket: u32) {
        let mut queue = self.tickets.lock().unwrap();
        queue.push_back(ticket);
        self.some.notify_one();
    }
    fn take(&self) -> u32 {
        let mut queue = self.tickets.lock().unwrap(); // culprit
        if cfg!(fixed) {
            while queue.is_empty() {
                queue = self.some.wait(queue).unwrap();
            }
        } else if queue.is_empty() {
            queue = self.some.wait(queue).unwrap(); // culprit
        }
        queue.pop_front().expect("a ticket") // culprit
    }
}

fn main() {
    let desk = Arc::new(Desk { tickets: Mutex::new(VecDeque::new()), some: Condvar::new() });
    let clerks: Vec<_> = (0..2)
        .map(|_| {
            let desk = Arc::clone(&desk);
            thread::spawn(move || desk.take() + desk.take())
        })
        .collect();
    for ticket in 1..=4 {
        desk.put(ticket);
    }
    let sum: u32 = clerks.into_iter().map(|c| c.join().unwrap()).sum();
    assert_eq!(sum, 10);
    println!("{sum}");
}
