// A player: a thread decodes a block while the next one is fetched by another, and each wakes the decoder.
//
// Bug: the decoder parks once for the volume and once for the block, and looks at neither: a wake-up that comes before
// the first park counts with the next one as one.
// Shows as: a deadlock: the decoder stays parked.
// fixed: it looks what has come, in a loop.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

struct Player {
    come: AtomicUsize,
    volume: Mutex<u32>,
    block: Mutex<Vec<u8>>,
}

fn wait_for(player: &Player, number: usize) {
    if cfg!(fixed) {
        while player.come.load(Ordering::SeqCst) < number {
            thread::park();
        }
        return;
    }
    let _ = player;
    thread::park(); // culprit
}

fn main() {
    let player =
        Arc::new(Player { come: AtomicUsize::new(0), volume: Mutex::new(0), block: Mutex::new(Vec::new()) });
    let for_decoder = Arc::clone(&player);
    let decoder = thread::spawn(move || {
        wait_for(&for_decoder, 1);
        wait_for(&for_decoder, 2);
        let volume = *for_decoder.volume.lock().unwrap();
        for_decoder.block.lock().unwrap().len() as u32 * volume
    });
    let (for_mixer, to_wake) = (Arc::clone(&player), decoder.thread().clone());
    let mixer = thread::spawn(move || {
        *for_mixer.volume.lock().unwrap() = 7;
        for_mixer.come.fetch_add(1, Ordering::SeqCst);
        to_wake.unpark(); // culprit
    });
    let (for_fetcher, to_wake) = (Arc::clone(&player), decoder.thread().clone());
    let fetcher = thread::spawn(move || {
        for_fetcher.block.lock().unwrap().extend([1, 2, 3]);
        for_fetcher.come.fetch_add(1, Ordering::SeqCst);
        to_wake.unpark(); // culprit
    });
    mixer.join().unwrap();
    fetcher.join().unwrap();
    println!("{}", decoder.join().unwrap());
}
