// Requests are answered in batches: who makes a batch full answers it, and wakes the others.
//
// Bug: it wakes one of them.
// Shows as: a deadlock: another one waits for its answer.
// fixed: it wakes all.
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

const SIZE: usize = 3;

#[derive(Default)]
struct Batch {
    requests: Vec<u32>,
    answers: Option<Vec<u32>>,
}

#[derive(Default)]
struct Batcher {
    batch: Mutex<Batch>,
    answered: Condvar,
    computed: Mutex<u32>,
}

impl Batcher {
    fn compute(&self, requests: &[u32]) -> Vec<u32> {
        *self.computed.lock().unwrap() += 1;
        requests.iter().map(|request| request * request).collect()
    }

    fn ask(&self, request: u32) -> u32 {
        let mut batch = self.batch.lock().unwrap();
        let at = batch.requests.len();
        batch.requests.push(request);
        if batch.requests.len() == SIZE {
            let answers = self.compute(&batch.requests);
            batch.answers = Some(answers);
            if cfg!(fixed) {
                self.answered.notify_all();
            } else {
                self.answered.notify_one(); // culprit
            }
        }
        loop {
            if let Some(answers) = &batch.answers {
                return answers[at];
            }
            batch = self.answered.wait(batch).unwrap(); // culprit
        }
    }
}

fn main() {
    let batcher = Arc::new(Batcher::default());
    let threads: Vec<_> = (0..SIZE as u32)
        .map(|request| {
            let batcher = batcher.clone();
            thread::spawn(move || batcher.ask(request))
        })
        .collect();
    let sum: u32 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    println!("{}", sum);
}
