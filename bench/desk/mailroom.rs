// Actors with mailboxes, on two threads: who puts a message into the box of an idle actor makes it ready.
//
// Bug: an actor whose box is empty goes on to be idle in a section of its own; a message that comes between finds it
//   busy, and nobody makes it ready.
// Shows as: a deadlock: a message is never handled.
// fixed: it is idle in the section that has found the box empty.
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

#[derive(Default)]
struct Inbox {
    messages: VecDeque<u32>,
    busy: bool,
}

#[derive(Default)]
struct Actor {
    inbox: Mutex<Inbox>,
    sum: Mutex<u32>,
}

#[derive(Default)]
struct Ready {
    actors: VecDeque<usize>,
    closed: bool,
}

#[derive(Default)]
struct System {
    actors: Vec<Actor>,
    ready: Mutex<Ready>,
    work: Condvar,
    handled: Mutex<usize>,
    progress: Condvar,
}

impl System {
    fn send(&self, to: usize, message: u32) {
        let mut inbox = self.actors[to].inbox.lock().unwrap(); // culprit
        inbox.messages.push_back(message);
        if inbox.busy {
            return;
        }
        inbox.busy = true;
        drop(inbox);
        self.ready.lock().unwrap().actors.push_back(to);
        self.work.notify_one();
    }

    fn next(&self, actor: &Actor) -> Option<u32> {
        let mut inbox = actor.inbox.lock().unwrap(); // culprit
        let message = inbox.messages.pop_front();
        if cfg!(fixed) && message.is_none() {
            inbox.busy = false;
        }
        message
    }

    fn run(&self, at: usize) {
        let actor = &self.actors[at];
        while let Some(message) = self.next(actor) {
            *actor.sum.lock().unwrap() += message;
            *self.handled.lock().unwrap() += 1;
            self.progress.notify_all();
        }
        if !cfg!(fixed) {
            actor.inbox.lock().unwrap().busy = false; // culprit
        }
    }

    fn worker(&self) {
        loop {
            let mut ready = self.ready.lock().unwrap();
            while ready.actors.is_empty() && !ready.closed {
                ready = self.work.wait(ready).unwrap();
            }
            let at = match ready.actors.pop_front() { Some(at) => at, None => return };
            drop(ready);
            self.run(at);
        }
    }
}

fn main() {
    let system = Arc::new(System { actors: vec![Actor::default(), Actor::default()], ..Default::default() });
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let system = system.clone();
            thread::spawn(move || system.worker())
        })
        .collect();
    for message in 1..=4 {
        system.send(message as usize % 2, message);
    }
    let mut handled = system.handled.lock().unwrap();
    while *handled < 4 {
        handled = system.progress.wait(handled).unwrap();
    }
    drop(handled);
    system.ready.lock().unwrap().closed = true;
    system.work.notify_all();
    for worker in workers {
        worker.join().unwrap();
    }
    println!("{} {}", system.actors[0].sum.lock().unwrap(), system.actors[1].sum.lock().unwrap());
}
