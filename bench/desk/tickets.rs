// Seats of a theatre: a booking looks for the best free row, asks the customer, then takes the seats.
//
// Bug: the free seats of a row are read in one section and written in another.
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Theatre {
    rows: Mutex<BTreeMap<u32, u32>>, // row to free seats
    sold: Mutex<u32>,
    #[cfg(fixed)]
    desk: Mutex<()>,
}

impl Theatre {
    fn open(rows: u32, seats: u32) -> Theatre {
        let theatre = Theatre::default();
        for row in 0..rows {
            theatre.rows.lock().unwrap().insert(row, seats);
        }
        theatre
    }

    fn best_row(&self, seats: u32) -> Option<u32> {
        let rows = self.rows.lock().unwrap();
        rows.iter().find(|(_, free)| **free >= seats).map(|(row, _)| *row)
    }

    fn free_in(&self, row: u32) -> u32 {
        self.rows.lock().unwrap()[&row] // culprit
    }

    fn set_free(&self, row: u32, free: u32) {
        self.rows.lock().unwrap().insert(row, free); // culprit
    }

    fn book(&self, seats: u32) -> Option<u32> {
        #[cfg(fixed)]
        let _desk = self.desk.lock().unwrap();
        let row = self.best_row(seats)?;
        let free = self.free_in(row);
        if free < seats {
            return None;
        }
        self.set_free(row, free - seats);
        *self.sold.lock().unwrap() += seats;
        Some(row)
    }

    fn cancel(&self, row: u32, seats: u32) {
        #[cfg(fixed)]
        let _desk = self.desk.lock().unwrap();
        let free = self.free_in(row);
        self.set_free(row, free + seats);
        *self.sold.lock().unwrap() -= seats;
    }

    fn all_free(&self) -> u32 {
        self.rows.lock().unwrap().values().sum()
    }
}

fn main() {
    let theatre = Arc::new(Theatre::open(2, 4));
    let customers: Vec<_> = (1..=3)
        .map(|seats| {
            let theatre = theatre.clone();
            thread::spawn(move || {
                if let Some(row) = theatre.book(seats) {
                    if seats == 2 {
                        theatre.cancel(row, seats);
                    }
                }
            })
        })
        .collect();
    for c in customers {
        c.join().unwrap();
    }
    let sold = *theatre.sold.lock().unwrap();
    let free = theatre.all_free();
    println!("{sold} sold, {free} free");
    assert_eq!(sold + free, 8, "seats appeared or vanished");
}
