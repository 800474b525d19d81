//! life.rs - clean: Conway's game of life, 64 cells in a word, on a board that fits the first cache.
//!
//!     life [STEPS]
//!
//! Nothing is planted: step() does all the work, without branches, and each word is its own.
const ROWS: usize = 256;
const WORDS: usize = 8;
type Board = Vec<[u64; WORDS]>;

fn add(a: u64, b: u64, c: u64) -> (u64, u64) {
    (a ^ b ^ c, (a & b) | (c & (a ^ b)))
}

#[inline(never)]
fn step(from: &Board, to: &mut Board) {
    for r in 0..ROWS {
        let (up, own, down) =
            (&from[(r + ROWS - 1) % ROWS], &from[r], &from[(r + 1) % ROWS]);
        for w in 0..WORDS {
            let left = |row: &[u64; WORDS]| row[w] << 1 | row[(w + WORDS - 1) % WORDS] >> 63;
            let right = |row: &[u64; WORDS]| row[w] >> 1 | row[(w + 1) % WORDS] << 63;
            let (u, uc) = add(left(up), up[w], right(up));
            let (d, dc) = add(left(down), down[w], right(down));
            let (o, oc) = (left(own) ^ right(own), left(own) & right(own));
            let (ones, carry) = add(u, d, o);
            let (twos, fours) = add(uc, dc, oc);
            let (twos, more) = (twos ^ carry, twos & carry);
            to[r][w] = !(fours | more) & twos & (ones | own[w]);
        }
    }
}

fn main() {
    let steps: u64 = std::env::args().nth(1).map_or(240_000, |w| w.parse().unwrap());
    let mut board: Board = (0..ROWS as u64)
        .map(|r| std::array::from_fn(|w| (r * 8 + w as u64 + 1).wrapping_mul(0x9E3779B97F4A7C15)))
        .collect();
    let mut other = board.clone();
    for _ in 0..steps {
        step(&board, &mut other);
        std::mem::swap(&mut board, &mut other);
    }
    let alive: u32 = board.iter().flatten().map(|w| w.count_ones()).sum();
    println!("{} steps, {} alive", steps, alive);
}
