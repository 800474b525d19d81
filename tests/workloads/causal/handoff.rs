use std::hint::black_box;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

#[inline(never)]
#[no_mangle]
fn work_a(units: u64) -> u64 {
    let mut x = units;
    for _ in 0..units * 60000 {
        x = black_box(x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407));
    }
    x
}

#[inline(never)]
#[no_mangle]
fn work_b(units: u64) -> u64 {
    let mut x = units + 1;
    for _ in 0..units * 60000 {
        x = black_box(x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963409));
    }
    x
}

#[inline(never)]
#[no_mangle]
fn progress(rounds: &mut u64) {
    *rounds = black_box(*rounds + 1);
}

fn main() {
    let seconds: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let (to, work) = sync_channel::<u64>(0);
    let (back, done) = sync_channel::<u64>(0);
    std::thread::spawn(move || loop {
        let x = work.recv().unwrap();
        back.send(x + work_a(10)).unwrap();
    });
    std::thread::spawn(move || {
        let (mut x, mut rounds) = (0, 0);
        loop {
            to.send(x).unwrap();
            x = done.recv().unwrap().wrapping_add(work_b(20));
            progress(&mut rounds);
            black_box(rounds);
        }
    });
    std::thread::sleep(Duration::from_secs(seconds));
    println!("done");
}
