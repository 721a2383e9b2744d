// A feed: readers wait for the next item; the writer publishes items and bumps a sequence number.
//
// Bug: a number is told of before its item is there.
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

struct Feed {
    sequence: Mutex<u64>,
    published: Condvar,
    items: Mutex<HashMap<u64, String>>,
}

impl Feed {
    fn new() -> Feed {
        Feed { sequence: Mutex::new(0), published: Condvar::new(), items: Mutex::new(HashMap::new()) }
    }

    #[cfg(not(fixed))]
    fn next_number(&self) -> u64 {
        let mut sequence = self.sequence.lock().unwrap(); // culprit
        *sequence += 1;
        self.published.notify_all();
        *sequence
    }

    #[cfg(fixed)]
    fn publish(&self, text: &str) {
        let mut sequence = self.sequence.lock().unwrap();
        self.items.lock().unwrap().insert(*sequence + 1, text.to_string());
        *sequence += 1;
        self.published.notify_all();
    }

    #[cfg(not(fixed))]
    fn publish(&self, text: &str) {
        let number = self.next_number();
        self.items.lock().unwrap().insert(number, text.to_string()); // culprit
    }

    fn wait_beyond(&self, seen: u64) -> u64 {
        let mut sequence = self.sequence.lock().unwrap();
        while *sequence <= seen {
            sequence = self.published.wait(sequence).unwrap();
        }
        *sequence
    }

    fn item(&self, number: u64) -> Option<String> {
        self.items.lock().unwrap().get(&number).cloned() // culprit
    }
}

fn read(feed: &Feed, count: u64) -> usize {
    let mut seen = 0;
    let mut bytes = 0;
    while seen < count {
        let newest = feed.wait_beyond(seen);
        for number in seen + 1..=newest {
            bytes += feed.item(number).expect("a published item is there").len();
        }
        seen = newest;
    }
    bytes
}

fn main() {
    let feed = Arc::new(Feed::new());
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let feed = feed.clone();
            thread::spawn(move || read(&feed, 2))
        })
        .collect();
    feed.publish("one");
    feed.publish("two");
    for reader in readers {
        println!("{}", reader.join().unwrap());
    }
}
