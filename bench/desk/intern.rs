// Names get numbers: a look with a lock for reading, and where that finds nothing, one for writing.
//
// Bug: no second look behind the lock for writing: two threads give two numbers to one name.
// Shows as: a failed assertion: numbers differ.
// fixed: a second look.
use std::collections::HashMap;
use std::sync::{Arc, RwLock};
use std::thread;

#[derive(Default)]
struct Names {
    numbers: RwLock<HashMap<String, usize>>,
    all: RwLock<Vec<String>>,
}

impl Names {
    fn number(&self, name: &str) -> usize {
        if let Some(number) = self.numbers.read().unwrap().get(name) { // culprit
            return *number;
        }
        let mut numbers = self.numbers.write().unwrap(); // culprit
        #[cfg(fixed)]
        if let Some(number) = numbers.get(name) {
            return *number;
        }
        let mut all = self.all.write().unwrap(); // culprit
        all.push(name.to_string());
        numbers.insert(name.to_string(), all.len());
        all.len()
    }
}

fn main() {
    let names = Arc::new(Names::default());
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let names = names.clone();
            thread::spawn(move || names.number("main"))
        })
        .collect();
    let numbers: Vec<usize> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    assert_eq!(numbers[0], numbers[1]);
}
