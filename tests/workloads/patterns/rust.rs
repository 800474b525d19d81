// rust.rs - planted shapes of Rust: PROGRAM CASE [COUNT], as plants.h has it.
use std::collections::HashMap;
use std::hint::black_box;
use std::io::Write;

#[inline(never)]
fn visits_of(visits: &HashMap<u64, u64>, key: u64) -> u64 {
    *visits.get(&key).unwrap_or(&0)
}

fn rust_siphash(rounds: u64) -> u64 {
    let visits: HashMap<u64, u64> = (0..1000).map(|i| (i, i)).collect();
    (0..rounds).map(|i| visits_of(&visits, i % 2000)).sum()
}

#[inline(never)]
fn last_of(values: &Vec<u64>) -> u64 {
    let copy = black_box(values).clone();
    black_box(&copy)[copy.len() - 1]
}

fn rust_clone(rounds: u64) -> u64 {
    let values = vec![1u64; 5000];
    (0..rounds).map(|_| last_of(&values)).sum()
}

#[inline(never)]
fn collect_some(n: u64) -> usize {
    let mut found: Vec<u64> = Vec::new();
    for i in 0..n {
        found.push(black_box(i));
    }
    black_box(&found).len()
}

fn rust_vec_growth(rounds: u64) -> u64 {
    (0..rounds).map(|i| collect_some(5 + i % 4) as u64).sum()
}

#[inline(never)]
fn name_of(i: u64) -> String {
    format!("item {} of {}", i, i * 17)
}

fn rust_format(rounds: u64) -> u64 {
    (0..rounds).map(|i| name_of(i).len() as u64).sum()
}

#[inline(never)]
fn print_row(out: &mut impl Write, i: u64) {
    writeln!(out, "{}", i).unwrap();
}

fn rust_stdout(rounds: u64) -> u64 {
    let mut out = std::io::stdout();
    for i in 0..rounds {
        print_row(&mut out, i);
    }
    rounds
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let cases: [(&str, fn(u64) -> u64, u64); 5] = [
        ("rust_siphash", rust_siphash, 16666666),
        ("rust_clone", rust_clone, 200000),
        ("rust_vec_growth", rust_vec_growth, 3333333),
        ("rust_format", rust_format, 2000000),
        ("rust_stdout", rust_stdout, 800000),
    ];
    for (name, run, rounds) in cases {
        if words.get(1).map(String::as_str) == Some(name) {
            let rounds = words.get(2).map_or(rounds, |w| w.parse().unwrap());
            eprintln!("{}: {}", name, run(black_box(rounds)));
        } else if words.len() == 1 {
            println!("{}", name);
        }
    }
}
