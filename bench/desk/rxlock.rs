// Workers that share the end of a channel: a job may give its rest to another worker and wait for it.
//
// Bug: `while let` keeps the guard of the channel's end while the job runs: no other worker gets one.
// Shows as: a deadlock: the job waits for what nobody takes out.
// fixed: the guard ends before the job begins.
use std::sync::{mpsc, Arc, Mutex};
use std::thread;

type Job = Box<dyn FnOnce() + Send>;

fn work(jobs: &Mutex<mpsc::Receiver<Job>>) {
    if cfg!(fixed) {
        loop {
            let job = jobs.lock().unwrap().recv();
            match job {
                Ok(job) => job(),
                Err(_) => return,
            }
        }
    }
    while let Ok(job) = jobs.lock().unwrap().recv() { // culprit
        job();
    }
}

fn main() {
    let (sender, receiver) = mpsc::channel::<Job>();
    let jobs = Arc::new(Mutex::new(receiver));
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let jobs = jobs.clone();
            thread::spawn(move || work(&jobs))
        })
        .collect();
    let (answer, answered) = mpsc::channel();
    let (part, parts) = mpsc::channel();
    sender
        .send(Box::new(move || {
            let rest: usize = parts.recv().unwrap(); // culprit
            answer.send(rest + 1).unwrap();
        }))
        .unwrap();
    sender
        .send(Box::new(move || part.send(1).unwrap()))
        .unwrap();
    assert_eq!(answered.recv().unwrap(), 2);
    drop(sender);
    for worker in workers {
        worker.join().unwrap();
    }
}
