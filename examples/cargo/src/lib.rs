//! A price list that a thread loads in the background. `price` trusts that it is loaded by the time that somebody asks,
//! which it practically always is; with the feature "fixed" it waits for it.
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

#[derive(Clone, Default)]
pub struct Prices(Arc<(Mutex<Option<HashMap<&'static str, i64>>>, Condvar)>);

impl Prices {
    pub fn open() -> Prices {
        let prices = Prices::default();
        let shared = prices.clone();
        thread::spawn(move || {
            *shared.0 .0.lock().unwrap() = Some(HashMap::from([("apple", 3), ("pear", 4)]));
            shared.0 .1.notify_all();
        });
        prices
    }

    pub fn price(&self, name: &str) -> i64 {
        let mut list = self.0 .0.lock().unwrap();
        if cfg!(feature = "fixed") {
            while list.is_none() {
                list = self.0 .1.wait(list).unwrap();
            }
        }
        list.as_ref().expect("the prices are loaded")[name] // culprit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_customer_asks() {
        let prices = Prices::open();
        let customer = thread::spawn(move || prices.price("apple"));
        assert_eq!(customer.join().unwrap(), 3);
    }

    #[test]
    fn nobody_asks() {
        Prices::open();
    }

    #[test]
    #[ignore = "takes an hour"]
    fn everybody_asks() {
        panic!("it is ignored")
    }
}
