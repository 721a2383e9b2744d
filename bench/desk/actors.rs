//! Two actors of a trading system: each has an inbox of a fixed size, and tells the other one of what it does.
//!
//! Bug: an actor sends while its own inbox is full: if both do, each waits for room that only the other one makes.
//! Shows as: a deadlock.
//! cfg(fixed): who finds no room takes from its own inbox first.
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
#[cfg(fixed)]
use std::sync::mpsc::TrySendError;
use std::thread;

enum Message {
    Order { id: u32, amount: u32 },
    Report { id: u32 },
    Done,
}

struct Actor {
    inbox: Receiver<Message>,
    other: SyncSender<Message>,
    ordered: u32,
    reported: u32,
    done: bool,
}

impl Actor {
    #[cfg(not(fixed))]
    fn send(&mut self, message: Message) {
        self.other.send(message).unwrap(); // culprit
    }

    #[cfg(fixed)]
    fn send(&mut self, message: Message) {
        let mut message = message;
        loop {
            match self.other.try_send(message) {
                Ok(()) => return,
                Err(TrySendError::Full(back)) => message = back,
                Err(TrySendError::Disconnected(_)) => return,
            }
            match self.inbox.try_recv() {
                Ok(got) => self.handle(got),
                Err(_) => thread::yield_now(),
            }
        }
    }

    fn handle(&mut self, message: Message) {
        match message {
            Message::Order { id, amount } => {
                self.ordered += amount;
                self.send(Message::Report { id });
            }
            Message::Report { id } => self.reported += id,
            Message::Done => self.done = true,
        }
    }

    fn run(mut self, orders: u32) -> (u32, u32) {
        for id in 1..=orders {
            self.send(Message::Order { id, amount: 10 * id });
            if let Ok(message) = self.inbox.try_recv() {
                self.handle(message);
            }
        }
        while self.reported < orders * (orders + 1) / 2 {
            let message = self.inbox.recv().unwrap();
            self.handle(message);
        }
        self.send(Message::Done);
        while !self.done {
            let message = self.inbox.recv().unwrap();
            self.handle(message);
        }
        (self.ordered, self.reported)
    }
}

fn main() {
    let (to_a, a) = sync_channel(1);
    let (to_b, b) = sync_channel(1);
    let broker = Actor { inbox: a, other: to_b, ordered: 0, reported: 0, done: false };
    let exchange = Actor { inbox: b, other: to_a, ordered: 0, reported: 0, done: false };
    let first = thread::spawn(move || broker.run(3));
    let second = thread::spawn(move || exchange.run(3));
    let (ordered, _) = first.join().unwrap();
    let (also, _) = second.join().unwrap();
    assert_eq!(ordered + also, 120);
}
