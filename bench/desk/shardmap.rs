// A map of several parts, each behind a lock of its own, as concurrent maps of libraries are. What get() returns keeps
// the part locked for reading as long as it lives.
//
// Bug: a link is followed: what is found in one part is still in use while another entry is written. Two that follow
// links of opposite directions wait for each other.
// Shows as: a deadlock.
// FIXED: what is found is copied, and given back before anything is written.
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, RwLock, RwLockReadGuard};
use std::thread;

const PARTS: usize = 4;

struct Ref<'a> {
    part: RwLockReadGuard<'a, HashMap<usize, usize>>,
    key: usize,
}

impl Deref for Ref<'_> {
    type Target = usize;
    fn deref(&self) -> &usize {
        &self.part[&self.key]
    }
}

struct Map {
    parts: [RwLock<HashMap<usize, usize>>; PARTS],
}

impl Map {
    fn get(&self, key: usize) -> Ref<'_> {
        Ref { part: self.parts[key % PARTS].read().unwrap(), key } // culprit
    }
    fn insert(&self, key: usize, value: usize) {
        self.parts[key % PARTS].write().unwrap().insert(key, value); // culprit
    }
}

fn follow(map: &Map, from: usize) {
    let target = map.get(from);
    #[cfg(fixed)]
    let target = &{
        let copy = *target;
        drop(target);
        copy
    };
    map.insert(*target, 100 + from);
}

fn main() {
    let map = Arc::new(Map { parts: Default::default() });
    map.insert(1, 2);
    map.insert(2, 1);
    map.insert(3, 4);
    let threads: Vec<_> = vec![1, 2, 3]
        .into_iter()
        .map(|from| {
            let map = Arc::clone(&map);
            thread::spawn(move || follow(&map, from))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{}", *map.get(4));
}
