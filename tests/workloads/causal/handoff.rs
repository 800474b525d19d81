// Two threads hand a value over std's channels: work_a 10 units, work_b 20.  One round is one
// progress point, of `progress` and of coz's counter where a profiler offers it.
use std::arch::asm; // std::hint::black_box wants Rust 1.66
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

#[inline(never)]
#[no_mangle]
fn work_a(units: u64) -> u64 {
    let (mut x, mut left) = (units, units * 60000);
    while left > 0 { x = x * 6364136223846793005 + 1442695040888963407; unsafe { asm!("/* {0} */", inout(reg) x) }; left -= 1; } // work a
    x
}

#[inline(never)]
#[no_mangle]
fn work_b(units: u64) -> u64 {
    let (mut x, mut left) = (units + 1, units * 60000);
    while left > 0 { x = x * 6364136223846793005 + 1442695040888963409; unsafe { asm!("/* {0} */", inout(reg) x) }; left -= 1; } // work b
    x
}

extern "C" {
    fn dlsym(handle: *const u8, name: *const u8) -> *const u8;
}

// What coz's macros and the coz crate do: ask once for the counter, then add.
fn counter() -> Option<&'static AtomicU64> {
    unsafe {
        let found = dlsym(std::ptr::null(), b"_coz_get_counter\0".as_ptr());
        if found.is_null() {
            return None;
        }
        let get: extern "C" fn(i32, *const u8) -> *const AtomicU64 = std::mem::transmute(found);
        get(1, b"round\0".as_ptr()).as_ref()
    }
}

#[inline(never)]
#[no_mangle]
fn progress(rounds: &mut u64) {
    *rounds += 1;
    unsafe { asm!("/* {0} */", in(reg) rounds) };
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
        let (mut x, mut rounds, counter) = (0, 0, counter());
        loop {
            to.send(x).unwrap();
            x = done.recv().unwrap().wrapping_add(work_b(20));
            progress(&mut rounds);
            counter.map(|c| c.fetch_add(1, Ordering::Relaxed));
        }
    });
    std::thread::sleep(Duration::from_secs(seconds));
    println!("done");
}
