// Changes of a document are saved by a thread of its own: a flag says that there is something to save.
//
// Bug: the flag is cleared behind the saving: a change that comes meanwhile is not saved.
// Shows as: a failed assertion: what was saved is not the latest.
// fixed: it is cleared before.
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{mpsc, Arc, Mutex};
use std::thread;

struct Document {
    text: Mutex<Vec<u32>>,
    dirty: AtomicBool,
    saved: Mutex<Vec<u32>>,
}

impl Document {
    fn change(&self, value: u32, wake: &mpsc::Sender<()>) {
        self.text.lock().unwrap().push(value); // culprit
        if !self.dirty.swap(true, Ordering::SeqCst) { // culprit
            wake.send(()).unwrap();
        }
    }

    fn write(&self) {
        let text = self.text.lock().unwrap().clone(); // culprit
        *self.saved.lock().unwrap() = text;
    }

    fn save(&self) {
        if cfg!(fixed) {
            self.dirty.swap(false, Ordering::SeqCst);
            self.write();
            return;
        }
        self.write();
        self.dirty.swap(false, Ordering::SeqCst); // culprit
    }
}

fn main() {
    let document = Arc::new(Document {
        text: Mutex::new(Vec::new()),
        dirty: AtomicBool::new(false),
        saved: Mutex::new(Vec::new()),
    });
    let (wake, woken) = mpsc::channel();
    let saver = {
        let document = document.clone();
        thread::spawn(move || {
            while woken.recv().is_ok() {
                document.save();
            }
        })
    };
    let editor = {
        let document = document.clone();
        thread::spawn(move || {
            for value in 0..3 {
                document.change(value, &wake);
            }
        })
    };
    editor.join().unwrap();
    saver.join().unwrap();
    assert_eq!(*document.text.lock().unwrap(), *document.saved.lock().unwrap());
}
