//! Rust's std under threads: Mutex, Condvar, RwLock, Barrier, mpsc channels, Once, park, scoped threads.
//! What it prints does not depend on the order in which its threads run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Barrier, Condvar, Mutex, Once, RwLock};
use std::thread;
use std::time::Duration;

fn channel() -> u64 {
    let (sender, receiver) = mpsc::channel();
    let (bounded, results) = mpsc::sync_channel(2);
    let receiver = Arc::new(Mutex::new(receiver));
    let workers: Vec<_> = (0..4)
        .map(|_| {
            let (receiver, bounded) = (receiver.clone(), bounded.clone());
            thread::spawn(move || loop {
                let next: Result<u64, _> = receiver.lock().unwrap().recv();
                match next {
                    Ok(n) => bounded.send(n * n).unwrap(),
                    Err(_) => break,
                }
            })
        })
        .collect();
    drop(bounded);
    let producer = thread::spawn(move || (1..=50).for_each(|n| sender.send(n).unwrap()));
    let sum = results.iter().sum();
    producer.join().unwrap();
    workers.into_iter().for_each(|w| w.join().unwrap());
    sum
}

/// A bounded buffer around a Condvar.
fn condvar() -> u64 {
    let shared = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
    let mut sum = 0;
    thread::scope(|scope| {
        for first in [0, 100] {
            let shared = shared.clone();
            scope.spawn(move || {
                for n in first..first + 25 {
                    let (lock, changed) = &*shared;
                    let mut buffer = changed.wait_while(lock.lock().unwrap(), |b| b.len() >= 3).unwrap();
                    buffer.push(n);
                    changed.notify_all();
                }
            });
        }
        for _ in 0..50 {
            let (lock, changed) = &*shared;
            let mut buffer = changed.wait_while(lock.lock().unwrap(), |b| b.is_empty()).unwrap();
            sum += buffer.pop().unwrap();
            changed.notify_all();
        }
    });
    sum
}

fn scope_and_barrier() -> (u64, u64) {
    static ONCE: Once = Once::new();
    static INITIALISED: AtomicU64 = AtomicU64::new(0);
    let (barrier, table) = (Barrier::new(4), RwLock::new(vec![0u64; 4]));
    let leaders = AtomicU64::new(0);
    thread::scope(|scope| {
        for me in 0..4 {
            let (barrier, table, leaders) = (&barrier, &table, &leaders);
            scope.spawn(move || {
                for _ in 0..5 {
                    ONCE.call_once(|| {
                        INITIALISED.fetch_add(1, Ordering::SeqCst);
                    });
                    table.write().unwrap()[me] += me as u64;
                    if barrier.wait().is_leader() {
                        leaders.fetch_add(1, Ordering::SeqCst);
                    }
                    assert!(table.read().unwrap().iter().sum::<u64>() >= 6);
                }
            });
        }
    });
    let sum = table.read().unwrap().iter().sum::<u64>();
    (sum, leaders.load(Ordering::SeqCst) + 10 * INITIALISED.load(Ordering::SeqCst))
}

fn park_and_timeout() -> (bool, bool) {
    let (sender, receiver) = mpsc::channel::<()>();
    let early = receiver.recv_timeout(Duration::from_millis(5)).is_err();
    let parked = thread::spawn(move || {
        thread::park();
        sender.send(()).unwrap();
    });
    parked.thread().unpark();
    let late = receiver.recv_timeout(Duration::from_secs(60)).is_ok();
    parked.join().unwrap();
    (early, late)
}

fn main() {
    println!("channel {}", channel());
    println!("condvar {}", condvar());
    println!("scope {:?}", scope_and_barrier());
    println!("park {:?}", park_and_timeout());
    println!("panic {}", thread::spawn(|| std::panic::resume_unwind(Box::new(1))).join().is_err());
}
