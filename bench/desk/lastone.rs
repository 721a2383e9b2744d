// The parts of an upload are sent by several threads; who sends the last one finishes it.
//
// Bug: each lowers the number of parts that are left, and looks whether it is zero in a second step.
// Shows as: a failed assertion: it was finished twice.
// fixed: what the lowering has left decides.
use std::sync::{Arc, Mutex};
use std::thread;

struct Upload {
    left: Mutex<u32>,
    log: Mutex<Vec<String>>,
    finished: Mutex<u32>,
}

impl Upload {
    fn lower(&self) -> u32 {
        let mut left = self.left.lock().unwrap(); // culprit
        *left -= 1;
        *left
    }

    fn is_complete(&self) -> bool {
        *self.left.lock().unwrap() == 0 // culprit
    }

    fn finish(&self) {
        self.log.lock().unwrap().push("finished".to_string());
        *self.finished.lock().unwrap() += 1;
    }

    fn send(&self, part: u32) {
        self.log.lock().unwrap().push(format!("part {part}"));
        let left = self.lower();
        let complete = if cfg!(fixed) { left == 0 } else { self.is_complete() };
        if complete {
            self.finish();
        }
    }
}

fn main() {
    let upload = Arc::new(Upload {
        left: Mutex::new(3),
        log: Mutex::new(Vec::new()),
        finished: Mutex::new(0),
    });
    let threads: Vec<_> = (0..3)
        .map(|part| {
            let upload = upload.clone();
            thread::spawn(move || upload.send(part))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*upload.finished.lock().unwrap(), 1);
}
