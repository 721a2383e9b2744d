//! Prints the price of what is named; without tests.
use bank::Prices;

fn main() {
    for name in std::env::args().skip(1) {
        println!("{name}: {}", Prices::open().price(&name));
    }
}
