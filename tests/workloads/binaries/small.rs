// small.rs - only looked at, never run.
#[inline(never)]
fn count(n: u64) -> u64 {
    if n < 2 { n } else { count(n - 1) + count(n - 2) }
}

fn main() {
    println!("{}", count(std::env::args().count() as u64));
}
