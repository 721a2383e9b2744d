// Ledgers of three branches, each with its lock; a transfer holds the two that it concerns.
//
// Bug: the locks are taken in the order of the transfer.
// Shows as: a deadlock of three.
// fixed: the lower number first.
use std::sync::{Arc, Mutex};
use std::thread;

struct Branch {
    entries: Mutex<Vec<i64>>,
}

fn transfer(branches: &[Branch], from: usize, to: usize, amount: i64) {
    let (first, second) = if cfg!(fixed) && from > to { (to, from) } else { (from, to) };
    let mut a = branches[first].entries.lock().unwrap(); // culprit
    let mut b = branches[second].entries.lock().unwrap(); // culprit
    let sign = if first == from { 1 } else { -1 };
    a.push(-sign * amount);
    b.push(sign * amount);
}

fn main() {
    let branches: Arc<Vec<Branch>> = Arc::new((0..3).map(|_| Branch { entries: Mutex::new(Vec::new()) }).collect());
    let clerks: Vec<_> = (0..3)
        .map(|i| {
            let branches = Arc::clone(&branches);
            thread::spawn(move || transfer(&branches, i, (i + 1) % 3, 10))
        })
        .collect();
    for clerk in clerks {
        clerk.join().unwrap();
    }
    let sum: i64 = branches.iter().map(|b| b.entries.lock().unwrap().iter().sum::<i64>()).sum();
    assert_eq!(sum, 0);
}
