// A pool of connections: at most two are open; who gives one back leaves it for the next.
//
// Bug: whether one more may be opened is looked at in one section, and counted in another, since opening takes long.
// Shows as: a failed assertion: the server sees three connections.
// fixed: it is counted before it is opened.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

const LIMIT: usize = 2;

#[derive(Default)]
struct Server {
    log: Mutex<Vec<String>>,
    clients: AtomicUsize,
}

struct Connection {
    server: Arc<Server>,
    id: usize,
}

impl Connection {
    fn open(server: &Arc<Server>) -> Connection {
        let id = server.clients.fetch_add(1, Ordering::SeqCst);
        server.log.lock().unwrap().push(format!("connected {}", id));
        assert!(id < LIMIT, "too many connections");
        Connection { server: server.clone(), id }
    }

    fn query(&self, text: &str) -> usize {
        let mut log = self.server.log.lock().unwrap();
        log.push(format!("{}: {}", self.id, text));
        log.len()
    }
}

#[derive(Default)]
struct State {
    idle: Vec<Connection>,
    open: usize,
}

struct Pool {
    server: Arc<Server>,
    state: Mutex<State>,
    given_back: Condvar,
}

impl Pool {
    fn get(&self) -> Connection {
        let mut state = self.state.lock().unwrap(); // culprit
        loop {
            if let Some(connection) = state.idle.pop() {
                return connection;
            }
            if state.open < LIMIT {
                break;
            }
            state = self.given_back.wait(state).unwrap();
        }
        if cfg!(fixed) {
            state.open += 1;
            drop(state);
            return Connection::open(&self.server);
        }
        drop(state);
        let connection = Connection::open(&self.server);
        self.state.lock().unwrap().open += 1; // culprit
        connection
    }

    fn put(&self, connection: Connection) {
        self.state.lock().unwrap().idle.push(connection);
        self.given_back.notify_one();
    }
}

fn main() {
    let server = Arc::new(Server::default());
    let pool = Arc::new(Pool { server: server.clone(), state: Mutex::default(), given_back: Condvar::new() });
    let clients: Vec<_> = (0..3)
        .map(|client| {
            let pool = pool.clone();
            thread::spawn(move || {
                for round in 0..2 {
                    let connection = pool.get();
                    connection.query(&format!("select {} from t{}", round, client));
                    pool.put(connection);
                }
            })
        })
        .collect();
    for client in clients {
        client.join().unwrap();
    }
    println!("{} lines", server.log.lock().unwrap().len());
}
