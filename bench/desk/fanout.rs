// Workers send their results through a channel; a collector reads until all senders are gone.
//
// Bug: a registry keeps the sender of a worker that registered before it was closed, so that the channel never ends.
// Shows as: deadlock: main waits for the collector, which waits for the channel.
// fixed: the registry gives its senders up, also those that came late.
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;

struct Registry {
    senders: Mutex<Vec<Sender<u32>>>,
    closed: Mutex<bool>,
}

impl Registry {
    fn register(&self, sender: &Sender<u32>) {
        if *self.closed.lock().unwrap() { // culprit
            return;
        }
        let mut senders = self.senders.lock().unwrap(); // culprit
        if cfg!(fixed) && *self.closed.lock().unwrap() {
            return;
        }
        senders.push(sender.clone());
    }

    fn close(&self) {
        *self.closed.lock().unwrap() = true; // culprit
        self.senders.lock().unwrap().clear(); // culprit
    }
}

fn collect(receiver: Receiver<u32>) -> u32 {
    let mut sum = 0;
    for value in receiver {
        sum += value;
    }
    sum
}

fn main() {
    let registry = Arc::new(Registry { senders: Mutex::new(Vec::new()), closed: Mutex::new(false) });
    let (sender, receiver) = channel();
    let collector = thread::spawn(move || collect(receiver));
    let mut workers = Vec::new();
    for number in 0..2 {
        let (registry, sender) = (Arc::clone(&registry), sender.clone());
        workers.push(thread::spawn(move || {
            registry.register(&sender);
            sender.send(number).unwrap();
        }));
    }
    drop(sender);
    registry.close();
    for worker in workers {
        worker.join().unwrap();
    }
    println!("{}", collector.join().unwrap());
}
