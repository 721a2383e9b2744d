// An exchange of two books: an order is matched in one, and what is left goes into the other; a report reads both.
//
// Bug: the report locks the books in the order of their names, an order locks its own side first.
// Shows as: deadlock.
// fixed: an order locks them in the order of their names, too.
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Buy,
    Sell,
}

#[derive(Default)]
struct Book {
    waiting: VecDeque<u32>,
}

#[derive(Default)]
struct Exchange {
    buys: Mutex<Book>,
    sells: Mutex<Book>,
    matched: Mutex<u32>,
}

impl Exchange {
    fn submit(&self, side: Side, amount: u32) {
        if cfg!(fixed) || side == Side::Buy {
            let mut buys = self.buys.lock().unwrap();
            let mut sells = self.sells.lock().unwrap();
            match side {
                Side::Buy => self.settle(&mut sells, &mut buys, amount),
                Side::Sell => self.settle(&mut buys, &mut sells, amount),
            }
        } else {
            let mut sells = self.sells.lock().unwrap(); // culprit
            let mut buys = self.buys.lock().unwrap(); // culprit
            self.settle(&mut buys, &mut sells, amount);
        }
    }

    fn settle(&self, other: &mut Book, own: &mut Book, amount: u32) {
        match other.waiting.pop_front() {
            Some(found) if found == amount => *self.matched.lock().unwrap() += amount,
            Some(found) => {
                other.waiting.push_front(found);
                own.waiting.push_back(amount);
            }
            None => own.waiting.push_back(amount),
        }
    }

    fn report(&self) -> (usize, usize) {
        let buys = self.buys.lock().unwrap(); // culprit
        let sells = self.sells.lock().unwrap(); // culprit
        (buys.waiting.len(), sells.waiting.len())
    }
}

fn trader(exchange: &Exchange, side: Side) {
    for amount in [5, 7] {
        exchange.submit(side, amount);
    }
}

fn main() {
    let exchange = Arc::new(Exchange::default());
    let mut threads = Vec::new();
    {
        let exchange = Arc::clone(&exchange);
        threads.push(thread::spawn(move || trader(&exchange, Side::Sell)));
    }
    {
        let exchange = Arc::clone(&exchange);
        threads.push(thread::spawn(move || {
            for _ in 0..2 {
                let (buys, sells) = exchange.report();
                assert!(buys + sells <= 4);
            }
        }));
    }
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{:?}", exchange.report());
}
