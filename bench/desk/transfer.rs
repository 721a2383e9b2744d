// Accounts with a lock each: money goes from one to another.
//
// Bug: the lock of who pays is taken first: two payments in opposite directions.
// Shows as: a deadlock.
// fixed: the lock of the lower number first.
use std::sync::{Arc, Mutex};
use std::thread;

struct Account {
    number: usize,
    balance: Mutex<i64>,
}

struct Bank {
    accounts: Vec<Account>,
    journal: Mutex<Vec<(usize, usize, i64)>>,
}

impl Bank {
    fn pay(&self, from: usize, to: usize, amount: i64) {
        let (payer, payee) = (&self.accounts[from], &self.accounts[to]);
        if cfg!(fixed) && payee.number < payer.number {
            let mut credit = payee.balance.lock().unwrap();
            let mut debit = payer.balance.lock().unwrap();
            *debit -= amount;
            *credit += amount;
        } else {
            let mut debit = payer.balance.lock().unwrap(); // culprit
            let mut credit = payee.balance.lock().unwrap(); // culprit
            *debit -= amount;
            *credit += amount;
        }
        self.journal.lock().unwrap().push((from, to, amount));
    }

    fn total(&self) -> i64 {
        self.accounts.iter().map(|account| *account.balance.lock().unwrap()).sum()
    }
}

fn main() {
    let accounts = (0..3).map(|number| Account { number, balance: Mutex::new(100) }).collect();
    let bank = Arc::new(Bank { accounts, journal: Mutex::new(Vec::new()) });
    let threads: Vec<_> = vec![(0, 1), (1, 2), (2, 1)]
        .into_iter()
        .map(|(from, to)| {
            let bank = bank.clone();
            thread::spawn(move || bank.pay(from, to, 10))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(bank.total(), 300);
    println!("{}", bank.journal.lock().unwrap().len());
}
