// A deadlock of two std Mutexes, taken in both orders. A free one is taken by an atomic instruction, without any call,
// so the default must make these scheduling points. Without them there is nothing to guarantee.
//
// NEED: command -v rustc
// RUN 120: pct run -q -s 1 -n 500 --state none -- %p
// RUN: pct run -S round-robin -n 1 --state none -- %p 2>&1 |
//     grep -F "implements its own locks by atomic instructions: --memory=atomics"
// RUN: pct run -s 1 -n 20 --state none --memory=off -- %p 2>&1 |
//     grep "no guarantee about.*: the program implements its own locks"
// RUN: pct doctor %p | grep "implements its own locks"
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
    let (a2, b2) = (a.clone(), b.clone());
    let t = thread::spawn(move || {
        let _x = a2.lock().unwrap();
        let mut y = b2.lock().unwrap();
        *y += 1;
    });
    {
        let _y = b.lock().unwrap();
        let mut x = a.lock().unwrap();
        *x += 1;
    }
    t.join().unwrap();
    println!("ok");
}
