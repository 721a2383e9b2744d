// A catalogue with prices: who prints an offer reads the catalogue, and looks each price up.
//
// Bug: the price is looked up by a function that takes the lock for reading a second time; a writer that waits by then
// comes first.
// Shows as: a deadlock.
// fixed: the price is taken from what is held already.
use std::collections::HashMap;
use std::sync::{Arc, RwLock};
use std::thread;

struct Catalogue {
    prices: RwLock<HashMap<&'static str, u32>>,
}

impl Catalogue {
    fn price(&self, item: &str) -> u32 {
        *self.prices.read().unwrap().get(item).unwrap_or(&0) // culprit
    }

    fn offer(&self) -> u32 {
        let prices = self.prices.read().unwrap(); // culprit
        let mut sum = 0;
        for item in prices.keys() {
            sum += if cfg!(fixed) { prices[item] } else { self.price(item) }; // culprit
        }
        sum
    }

    fn change(&self, item: &'static str, price: u32) {
        self.prices.write().unwrap().insert(item, price); // culprit
    }
}

fn main() {
    let catalogue = Arc::new(Catalogue { prices: RwLock::new(HashMap::from([("nail", 1), ("screw", 2)])) });
    let shop = Arc::clone(&catalogue);
    let seller = thread::spawn(move || (0..2).map(|_| shop.offer()).sum::<u32>());
    let office = Arc::clone(&catalogue);
    let changer = thread::spawn(move || {
        for price in 3..5 {
            office.change("nail", price);
        }
    });
    changer.join().unwrap();
    println!("{}", seller.join().unwrap());
}
