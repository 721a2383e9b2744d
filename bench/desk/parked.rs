// A worker parks until it is told that something has come: a job, and the end.
//
// Bug: it takes each wake-up for one job; two that come before it parks are one, so that it parks for ever.
// Shows as: deadlock: main waits for the worker, which parks.
// fixed: it looks at the queue until that is empty, each time.
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::thread;

enum Job {
    Add(u32),
    End,
}

struct Inbox {
    jobs: Mutex<VecDeque<Job>>,
}

impl Inbox {
    fn push(&self, job: Job, worker: &thread::Thread) {
        self.jobs.lock().unwrap().push_back(job);
        worker.unpark(); // culprit
    }

    fn pop(&self) -> Option<Job> {
        self.jobs.lock().unwrap().pop_front()
    }
}

fn work(inbox: &Inbox) -> u32 {
    let mut sum = 0;
    loop {
        thread::park(); // culprit
        while let Some(job) = inbox.pop() {
            match job {
                Job::Add(n) => sum += n,
                Job::End => return sum,
            }
            if !cfg!(fixed) {
                break;
            }
        }
    }
}

fn main() {
    let inbox = Arc::new(Inbox { jobs: Mutex::new(VecDeque::new()) });
    let theirs = Arc::clone(&inbox);
    let worker = thread::spawn(move || work(&theirs));
    inbox.push(Job::Add(3), worker.thread());
    inbox.push(Job::Add(4), worker.thread());
    inbox.push(Job::End, worker.thread());
    println!("{}", worker.join().unwrap());
}
