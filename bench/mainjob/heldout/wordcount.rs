//! wordcount.rs - lock convoy: four threads count words in one table behind one lock.
//!
//!     wordcount [WORDS]
//!
//! Planted: each word takes the lock for one small change of the table, and the threads do little
//! else, so that they stand in line.  A table for each thread, added up at the end, has no line.
//! Right: the lock (lock_thrash), at the counting under it.
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;

const THREADS: u64 = 4;

fn next_word(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 33) % 5000
}

#[inline(never)]
fn count_words(table: &Mutex<HashMap<u64, u64>>, mut seed: u64, words: u64) {
    for _ in 0..words {
        let word = next_word(&mut seed);
        let mut counts = table.lock().unwrap();
        *counts.entry(word).or_insert(0) += 1;
        let longest = counts.get(&(word / 2)).copied().unwrap_or(0);
        if longest > u64::MAX / 2 {
            counts.clear();
        }
    }
}

fn main() {
    let words: u64 = std::env::args().nth(1).map_or(12_000_000, |w| w.parse().unwrap());
    let table = Arc::new(Mutex::new(HashMap::new()));
    let threads: Vec<_> = (0..THREADS)
        .map(|i| {
            let table = Arc::clone(&table);
            thread::spawn(move || count_words(&table, i, words / THREADS))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{} words, {} different", words, table.lock().unwrap().len());
}
