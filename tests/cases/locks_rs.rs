// A bank with a lock for each account; transfer() takes two of them, in an order that depends on who pays: a deadlock
// of depth 3, if one worker is late by three jobs between taking its job and its first lock. The locks are atomic
// instructions, which wait by pausing: each of a hundred pauses was a point, half of all, and pos found it in 3 of
// 1,000 runs for 7. The default mixture finds it after some 900 runs; pct alone not in thousands, which its screen
// says, and what does.
//
// NEED: command -v rustc
// BUILD: rustc -g -o %p %s
// RUN 120: pct run -q --state none -n 600 -s 1 -S pos -- %p
// RUN 120: pct run -q --state none -n 2000 -s 1 -- %p
// RUN: pct run --state none -n 60 -s 1 -S pct -- %p 2>&1 | grep -e '--strategy pos'
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

struct Account { id: u32, balance: Mutex<i64> }

fn transfer(from: &Account, to: &Account, amount: i64) -> bool {
    let mut a = from.balance.lock().unwrap();
    let mut b = to.balance.lock().unwrap();
    if *a < amount { return false; }
    *a -= amount;
    *b += amount;
    true
}

fn audit(accounts: &[Arc<Account>]) -> i64 {
    accounts.iter().map(|a| *a.balance.lock().unwrap()).sum()
}

fn main() {
    let accounts: Vec<Arc<Account>> = (0..3).map(|id| Arc::new(Account { id, balance: Mutex::new(100) })).collect();
    let (tx, rx) = mpsc::channel::<(usize, usize, i64)>();
    let rx = Arc::new(Mutex::new(rx));
    let mut workers = vec![];
    for _ in 0..2 {
        let rx = rx.clone();
        let accounts = accounts.clone();
        workers.push(thread::spawn(move || {
            let mut done = 0;
            loop {
                let job = rx.lock().unwrap().recv();
                match job {
                    Ok((f, t, amount)) => { if transfer(&accounts[f], &accounts[t], amount) { done += 1; } }
                    Err(_) => return done,
                }
            }
        }));
    }
    for (f, t, a) in [(0, 1, 10), (1, 2, 20), (2, 0, 30), (1, 0, 5)] {
        tx.send((f, t, a)).unwrap();
    }
    drop(tx);
    let done: i32 = workers.into_iter().map(|w| w.join().unwrap()).sum();
    assert_eq!(audit(&accounts), 300, "money was lost, {} transfers", done);
    println!("{} transfers, first account {}", done, accounts[0].id);
}
