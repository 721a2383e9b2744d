// A shop: a customer who finds enough in stock takes it.
//
// Bug: it is looked at under a read lock, and taken under a write lock.
// Shows as: a panic: less than nothing is left.
// fixed: it looks and takes under the write lock.
use std::collections::HashMap;
use std::sync::{Arc, RwLock};
use std::thread;

struct Shop {
    stock: RwLock<HashMap<&'static str, i32>>,
}

impl Shop {
    fn has(&self, item: &str, count: i32) -> bool {
        self.stock.read().unwrap()[item] >= count // culprit
    }

    fn buy(&self, item: &'static str, count: i32) -> bool {
        if cfg!(fixed) {
            let mut stock = self.stock.write().unwrap();
            let left = stock.get_mut(item).unwrap();
            if *left < count {
                return false;
            }
            *left -= count;
            return true;
        }
        if !self.has(item, count) {
            return false;
        }
        let mut stock = self.stock.write().unwrap(); // culprit
        let left = stock.get_mut(item).unwrap();
        *left -= count;
        assert!(*left >= 0, "{} {} left", left, item);
        true
    }
}

fn main() {
    let shop = Arc::new(Shop { stock: RwLock::new(HashMap::from([("tea", 3), ("milk", 9)])) });
    let customers: Vec<_> = (0..2)
        .map(|_| {
            let shop = Arc::clone(&shop);
            thread::spawn(move || {
                shop.buy("milk", 2);
                shop.buy("tea", 2)
            })
        })
        .collect();
    for customer in customers {
        customer.join().unwrap();
    }
}
