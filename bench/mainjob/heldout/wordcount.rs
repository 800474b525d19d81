//! wordcount.rs - lock convoy: four threads count the words of lines in one table behind one lock.
//!
//!     wordcount [LINES]
//!
//! Planted: each line takes the lock for all of its words, and outside of it a thread has only the
//! words to cut, so that the threads stand in line.  A table for each thread, added up at the end,
//! has no line.
//! Right: the lock (lock_thrash), at count_line(), which holds it.  Wrong: cut_line().
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;

const THREADS: u64 = 4;
const WORDS: usize = 64;
type Table = Mutex<HashMap<u64, u64>>;

#[inline(never)]
fn cut_line(seed: &mut u64) -> [u64; WORDS] {
    std::array::from_fn(|_| {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 33) % 5000
    })
}

#[inline(never)]
fn count_line(table: &Table, words: &[u64; WORDS]) {
    let mut counts = table.lock().unwrap();
    for word in words {
        *counts.entry(*word).or_insert(0) += 1;
    }
}

fn main() {
    let lines: u64 = std::env::args().nth(1).map_or(5_000_000, |w| w.parse().unwrap());
    let table: Arc<Table> = Arc::new(Mutex::new(HashMap::new()));
    let threads: Vec<_> = (0..THREADS)
        .map(|i| {
            let table = Arc::clone(&table);
            thread::spawn(move || {
                let mut seed = i;
                for _ in 0..lines / THREADS {
                    count_line(&table, &cut_line(&mut seed));
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{} lines, {} words", lines, table.lock().unwrap().len());
}
