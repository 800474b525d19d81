//! orbits.rs - hot but off the critical path: bodies that move, recorded by a thread beside.
//!
//! Planted: a frame is pull() 4, collide() 2 and settle() 2 units of work, one after the other in
//! the main thread, while pack_frame() packs the frame before it, 4.6 units, in the recorder's
//! thread, and then waits.  A CPU profile has pack_frame() first; to make it faster gains nothing.
//! Right: pull(), the longest of the chain.  Wrong: pack_frame().
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::thread;

const BODIES: usize = 768;
const FRAMES: u64 = 1700;
const STEPS: u32 = 144;
const PASSES: u32 = 66;

#[derive(Clone, Copy)]
struct Body {
    place: [f64; 2],
    speed: [f64; 2],
}

/// Each body is pulled by each other one.
#[inline(never)]
fn pull(bodies: &mut [Body]) {
    if cfg!(without) {
        return;
    }
    for i in 0..bodies.len() {
        let mut force = [0.0, 0.0];
        let own = bodies[i].place;
        for other in bodies.iter() {
            let d = [other.place[0] - own[0], other.place[1] - own[1]];
            let near = 1.0 / (d[0] * d[0] + d[1] * d[1] + 0.01);
            force[0] += d[0] * near;
            force[1] += d[1] * near;
        }
        bodies[i].speed[0] += force[0] * 1e-6;
        bodies[i].speed[1] += force[1] * 1e-6;
    }
}

/// How many pairs are close to each other, in all of them once.
#[inline(never)]
fn collide(bodies: &[Body]) -> u64 {
    let mut close = 0;
    for (i, one) in bodies.iter().enumerate() {
        for other in &bodies[i..] {
            let d = [other.place[0] - one.place[0], other.place[1] - one.place[1]];
            close += u64::from((d[0] * d[0] + d[1] * d[1]).sqrt() < 0.01);
        }
    }
    close
}

/// The bodies move by small steps.
#[inline(never)]
fn settle(bodies: &mut [Body]) {
    for body in bodies.iter_mut() {
        for _ in 0..STEPS {
            body.place[0] += body.speed[0] * 0.01 - body.place[1] * 1e-7;
            body.place[1] += body.speed[1] * 0.01 + body.place[0] * 1e-7;
        }
    }
}

/// A frame as bytes, mixed some times so that its checksum tells one from the other.
#[inline(never)]
fn pack_frame(frame: &[Body]) -> u64 {
    let mut packed: u64 = 14695981039346656037;
    for _ in 0..PASSES {
        for body in frame {
            for value in body.place.iter().chain(&body.speed) {
                let rounded = (value * 1e6) as i64 as u64;
                for shift in [0, 16, 32, 48] {
                    packed = (packed ^ (rounded >> shift & 0xffff)).wrapping_mul(1099511628211);
                }
            }
        }
    }
    packed
}

fn recorder(frames: Receiver<Vec<Body>>, done: SyncSender<u64>) {
    for frame in frames {
        done.send(pack_frame(&frame)).unwrap();
    }
}

fn main() {
    let mut bodies: Vec<Body> = (0..BODIES)
        .map(|i| {
            let (x, y) = (
                (i * 7919 % 1009) as f64 / 1009.0,
                (i * 104729 % 997) as f64 / 997.0,
            );
            Body {
                place: [x, y],
                speed: [y - 0.5, 0.5 - x],
            }
        })
        .collect();
    let (to_recorder, frames) = sync_channel(1);
    let (done, from_recorder) = sync_channel(1);
    let thread = thread::spawn(move || recorder(frames, done));
    let (mut close, mut check) = (0, 0u64);
    for _ in 0..FRAMES {
        to_recorder.send(bodies.clone()).unwrap();
        pull(&mut bodies);
        close += collide(&bodies);
        settle(&mut bodies);
        check = check.rotate_left(5) ^ from_recorder.recv().unwrap();
    }
    drop(to_recorder);
    thread.join().unwrap();
    println!("{} frames, {} close pairs, {:016x}", FRAMES, close, check);
}
