// A cache of open tables: readers hold an Arc while they use one, an evictor takes those that nobody uses.
//
// Bug: it looks for them under one lock, and takes them out under the next.
use std::collections::HashMap;
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

struct Table {
    name: String,
    rows: Mutex<Vec<u32>>,
}

impl Table {
    fn open(name: &str) -> Table {
        Table {
            name: name.to_string(),
            rows: Mutex::new(vec![1, 2, 3]),
        }
    }

    fn sum(&self) -> u32 {
        self.rows.lock().unwrap().iter().sum()
    }

    fn append(&self, row: u32) {
        self.rows.lock().unwrap().push(row);
    }

    fn close(self) -> usize {
        self.rows.into_inner().unwrap().len()
    }
}

struct Cache {
    tables: RwLock<HashMap<String, Arc<Table>>>,
    closed: Mutex<usize>,
}

impl Cache {
    fn new() -> Cache {
        Cache {
            tables: RwLock::new(HashMap::new()),
            closed: Mutex::new(0),
        }
    }

    fn lookup(&self, name: &str) -> Option<Arc<Table>> {
        self.tables.read().unwrap().get(name).cloned() // culprit
    }

    fn open(&self, name: &str) -> Arc<Table> {
        if let Some(t) = self.lookup(name) {
            return t;
        }
        let mut tables = self.tables.write().unwrap();
        tables
            .entry(name.to_string())
            .or_insert_with(|| Arc::new(Table::open(name)))
            .clone()
    }

    fn unused(&self) -> Vec<String> {
        let tables = self.tables.read().unwrap(); // culprit
        tables
            .values()
            .filter(|t| Arc::strong_count(t) == 1)
            .map(|t| t.name.clone())
            .collect()
    }

    fn evict(&self) -> usize {
        let mut n = 0;
        for name in self.unused() {
            let mut tables = self.tables.write().unwrap(); // culprit
            #[cfg(fixed)]
            if tables.get(&name).map_or(false, |t| Arc::strong_count(t) > 1) {
                continue;
            }
            let removed = tables.remove(&name);
            drop(tables);
            if let Some(table) = removed {
                let table = Arc::try_unwrap(table).ok().expect("evicted a table in use"); // culprit
                let rows = table.close();
                *self.closed.lock().unwrap() += rows;
                n += 1;
            }
        }
        n
    }
}

fn reader(cache: Arc<Cache>, name: &'static str) {
    for i in 0..2 {
        let t = cache.open(name);
        t.append(i);
        assert!(t.sum() >= 6);
    }
}

fn main() {
    let cache = Arc::new(Cache::new());
    let names = ["users", "orders", "users"];
    let mut threads = Vec::new();

    for name in names {
        let c = cache.clone();
        threads.push(thread::spawn(move || reader(c, name)));
    }
    let c = cache.clone();
    let evictor = thread::spawn(move || c.evict() + c.evict());
    for t in threads {
        t.join().unwrap();
    }
    let n = evictor.join().unwrap();
    println!("{} evicted, {} rows", n, cache.closed.lock().unwrap());
}
