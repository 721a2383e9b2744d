// A publisher sends each entry of a table to a subscriber by a channel with little room; the subscriber marks in the
// table what it has got.
//
// Bug: the publisher keeps the table for reading while it sends; when the channel is full it waits for the subscriber,
// which waits for the table.
// Shows as: a deadlock.
// fixed: the entries are copied out first.
use std::collections::BTreeMap;
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::sync::{Arc, RwLock};
use std::thread;

const ENTRIES: u32 = 5;

#[derive(Clone)]
struct Entry {
    value: u32,
    received: bool,
}

type Table = Arc<RwLock<BTreeMap<u32, Entry>>>;

fn fill(table: &Table) {
    let mut entries = table.write().unwrap();
    for key in 0..ENTRIES {
        entries.insert(key, Entry { value: key * key, received: false });
    }
}

#[cfg(not(fixed))]
fn publish(table: &Table, to: &SyncSender<(u32, u32)>) {
    let entries = table.read().unwrap(); // culprit
    for (key, entry) in entries.iter() {
        to.send((*key, entry.value)).unwrap(); // culprit
    }
}

#[cfg(fixed)]
fn publish(table: &Table, to: &SyncSender<(u32, u32)>) {
    let entries: Vec<(u32, u32)> = table.read().unwrap().iter().map(|(key, entry)| (*key, entry.value)).collect();
    for entry in entries {
        to.send(entry).unwrap();
    }
}

fn mark(table: &Table, key: u32, value: u32) {
    let mut entries = table.write().unwrap(); // culprit
    let entry = entries.get_mut(&key).unwrap();
    assert_eq!(entry.value, value);
    entry.received = true;
}

fn subscribe(table: &Table, from: Receiver<(u32, u32)>) -> u32 {
    let mut sum = 0;
    for (key, value) in from.iter() {
        mark(table, key, value);
        sum += value;
    }
    sum
}

fn main() {
    let table: Table = Arc::new(RwLock::new(BTreeMap::new()));
    fill(&table);
    let (sender, receiver) = sync_channel(2);
    let publisher = {
        let table = table.clone();
        thread::spawn(move || publish(&table, &sender))
    };
    let subscriber = {
        let table = table.clone();
        thread::spawn(move || subscribe(&table, receiver))
    };
    publisher.join().unwrap();
    let sum = subscriber.join().unwrap();
    let received = table.read().unwrap().values().filter(|entry| entry.received).count();
    println!("{received} entries, {sum}");
}
