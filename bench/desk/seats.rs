// Seats that customers book: a look at what is free, then a booking.
//
// Bug: the look and the booking are two sections: two customers may find the same last seat.
// Shows as: a panic: more is booked than there is.
// fixed: one section.
use std::sync::{Arc, Mutex};
use std::thread;

struct Hall {
    seats: usize,
    booked: Mutex<Vec<u32>>,
    waiting: Mutex<Vec<u32>>,
}

impl Hall {
    fn free(&self) -> usize {
        self.seats - self.booked.lock().unwrap().len() // culprit
    }

    fn enter(&self, customer: u32) {
        let mut booked = self.booked.lock().unwrap(); // culprit
        booked.push(customer);
        assert!(booked.len() <= self.seats, "booked twice");
    }

    fn wait(&self, customer: u32) {
        self.waiting.lock().unwrap().push(customer);
    }

    fn book(&self, customer: u32) -> bool {
        if cfg!(fixed) {
            let mut booked = self.booked.lock().unwrap();
            if booked.len() < self.seats {
                booked.push(customer);
                return true;
            }
        } else if self.free() > 0 {
            self.enter(customer);
            return true;
        }
        self.wait(customer);
        false
    }
}

fn main() {
    let hall = Arc::new(Hall { seats: 2, booked: Mutex::new(Vec::new()), waiting: Mutex::new(Vec::new()) });
    let threads: Vec<_> = (0..3)
        .map(|customer| {
            let hall = Arc::clone(&hall);
            thread::spawn(move || hall.book(customer))
        })
        .collect();
    let got = threads.into_iter().map(|thread| thread.join().unwrap()).filter(|&got| got).count();
    assert_eq!(got, 2);
    assert_eq!(hall.waiting.lock().unwrap().len(), 1);
}
