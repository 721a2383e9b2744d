// A mailer: a background thread sends what is queued; flush() waits until the queue is empty; close() stops it.
//
// Bug: the flag is set and told of without the lock: between the look at it and the wait.
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

struct Mailer {
    queue: Mutex<VecDeque<String>>,
    filled: Condvar,
    emptied: Condvar,
    stop: AtomicBool,
    sent: Mutex<usize>,
}

impl Mailer {
    fn new() -> Mailer {
        Mailer {
            queue: Mutex::new(VecDeque::new()),
            filled: Condvar::new(),
            emptied: Condvar::new(),
            stop: AtomicBool::new(false),
            sent: Mutex::new(0),
        }
    }

    fn push(&self, text: &str) {
        self.queue.lock().unwrap().push_back(text.to_string());
        self.filled.notify_one();
    }

    fn next(&self) -> Option<String> {
        let mut queue = self.queue.lock().unwrap();
        loop {
            if let Some(text) = queue.pop_front() {
                if queue.is_empty() {
                    self.emptied.notify_all();
                }
                return Some(text);
            }
            if self.stop.load(Ordering::SeqCst) { // culprit
                return None;
            }
            queue = self.filled.wait(queue).unwrap(); // culprit
        }
    }

    fn serve(&self) {
        while let Some(text) = self.next() {
            *self.sent.lock().unwrap() += text.len();
        }
    }

    fn flush(&self) {
        let mut queue = self.queue.lock().unwrap();
        while !queue.is_empty() {
            queue = self.emptied.wait(queue).unwrap();
        }
    }

    fn close(&self) {
        #[cfg(fixed)]
        let _queue = self.queue.lock().unwrap();
        self.stop.store(true, Ordering::SeqCst); // culprit
        self.filled.notify_all(); // culprit
    }
}

fn main() {
    let mailer = Arc::new(Mailer::new());
    let server = {
        let mailer = mailer.clone();
        thread::spawn(move || mailer.serve())
    };
    let writers: Vec<_> = (0..2)
        .map(|i| {
            let mailer = mailer.clone();
            thread::spawn(move || {
                mailer.push(&format!("mail {i}"));
                mailer.flush();
            })
        })
        .collect();
    for w in writers {
        w.join().unwrap();
    }
    mailer.close();
    server.join().unwrap();
    println!("{} bytes", mailer.sent.lock().unwrap());
}
