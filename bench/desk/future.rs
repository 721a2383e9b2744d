// A shared future: one promise, several who wait for its value, and a chain of two stages.
//
// Bug: who keeps the promise wakes one of them.
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

enum State<T> {
    Pending,
    Ready(T),
    Broken,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct Promise<T> {
    shared: Arc<Shared<T>>,
    kept: bool,
}

#[derive(Clone)]
struct Future<T> {
    shared: Arc<Shared<T>>,
}

fn pair<T: Clone>() -> (Promise<T>, Future<T>) {
    let shared = Arc::new(Shared {
        state: Mutex::new(State::Pending),
        changed: Condvar::new(),
    });
    (
        Promise {
            shared: shared.clone(),
            kept: false,
        },
        Future { shared },
    )
}

impl<T> Promise<T> {
    fn keep(mut self, value: T) {
        let mut state = self.shared.state.lock().unwrap();
        *state = State::Ready(value);
        drop(state);
        #[cfg(fixed)]
        self.shared.changed.notify_all();
        #[cfg(not(fixed))]
        self.shared.changed.notify_one(); // culprit
        self.kept = true;
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        if !self.kept {
            *self.shared.state.lock().unwrap() = State::Broken;
            self.shared.changed.notify_all();
        }
    }
}

impl<T: Clone> Future<T> {
    fn get(&self) -> Option<T> {
        let mut state = self.shared.state.lock().unwrap();
        loop {
            match &*state {
                State::Ready(v) => return Some(v.clone()),
                State::Broken => return None,
                State::Pending => {}
            }
            state = self.shared.changed.wait(state).unwrap(); // culprit
        }
    }

    fn is_ready(&self) -> bool {
        !matches!(*self.shared.state.lock().unwrap(), State::Pending)
    }
}

fn stage(input: Future<u32>, output: Promise<u32>) {
    match input.get() {
        Some(v) => output.keep(v + 1),
        None => drop(output),
    }
}

fn main() {
    let (source, first) = pair::<u32>();
    let (middle, second) = pair::<u32>();
    let mut threads = Vec::new();

    let input = first.clone();
    threads.push(thread::spawn(move || stage(input, middle)));
    for _ in 0..2 {
        let f = first.clone();
        let s = second.clone();
        threads.push(thread::spawn(move || {
            let a = f.get().expect("first");
            let b = s.get().expect("second");
            assert_eq!(a + 1, b);
        }));
    }
    source.keep(41);
    for t in threads {
        t.join().unwrap();
    }
    assert!(second.is_ready());
    println!("{:?} {:?}", first.get(), second.get());
}
