//! The process that runs cases, one after the other, until its time is up or a
//! case ends it.

use crate::corpus::Corpus;
use crate::progress::Progress;
use crate::random::Random;
use crate::{ALLOCATOR, Args, Target, case, findings};
use anyhow::Context as _;
use std::cell::RefCell;
use std::fs::OpenOptions;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// A case that takes longer is a defect.
pub(crate) const MAX_CASE_TIME: Duration = Duration::from_secs(1);

/// A slow case may have met a busy machine: it is run again so often before it counts.
const SLOW_REPEATS: usize = 2;

thread_local! {
    /// Message and place of the last panic.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The input of a case and the generator for what else the case draws.
pub(crate) fn input(target: Target, corpus: &Corpus, seed: u64, number: u64) -> (Vec<u8>, Random) {
    let mut random = Random::of_case(seed, number);
    let input = match target {
        Target::Bytes => crate::bytes::input(corpus, &mut random),
        Target::Tokens => crate::tokens::input(corpus, &mut random),
    };
    (input, random)
}

/// Runs cases from `args.start` on, with the counters that are in the progress file.
pub(crate) fn run(args: &Args, corpus: &Corpus, progress: &std::path::Path) -> anyhow::Result<()> {
    let file = OpenOptions::new().read(true).write(true).open(progress).context("the progress file")?;
    let mut progress = Progress::read(&file)?;
    std::panic::set_hook(Box::new(|info| PANIC.set(info.to_string())));
    let deadline = Instant::now() + Duration::from_secs_f64(args.seconds);
    for number in args.start.. {
        if Instant::now() >= deadline {
            break;
        }
        progress.case = number;
        progress.write(&file)?;
        let (input, random) = input(args.target, corpus, args.seed, number);
        let (outcome, time) = timed(&input, &random);
        match outcome {
            Ok(reached) => progress.reached[reached as usize] += 1,
            Err(defect) => {
                progress.defects += 1;
                findings::keep(args, number, &input, &defect)?;
            }
        }
        let micros = time.as_micros() as u64;
        if micros > progress.slowest.0 {
            progress.slowest = (micros, number);
        }
        let held = ALLOCATOR.max_allocated() as u64;
        if held > progress.largest.0 {
            progress.largest = (held, number);
        }
    }
    progress.write(&file)?;
    Ok(())
}

/// Runs a case; slow ones again, so that the time is the case's own.
fn timed(input: &[u8], random: &Random) -> (Result<case::Reached, String>, Duration) {
    let mut fastest = Duration::MAX;
    let mut outcome = Ok(case::Reached::Refused);
    for _ in 0..=SLOW_REPEATS {
        let (start, busy) = (Instant::now(), processor_time());
        outcome = guarded(input, &mut random.clone());
        let elapsed = start.elapsed();
        // Time in which the machine did something else is not the case's.
        let busy = processor_time().zip(busy).map(|(end, start)| end.saturating_sub(start));
        fastest = fastest.min(busy.map_or(elapsed, |busy| busy.min(elapsed)));
        if fastest <= MAX_CASE_TIME {
            return (outcome, fastest);
        }
    }
    let slow = format!("slow: {:.1} s", fastest.as_secs_f64());
    (outcome.and(Err(slow)), fastest)
}

/// How long this thread has run on a processor, where the system says it.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// Runs a case; a panic is a defect like another.
pub(crate) fn guarded(input: &[u8], random: &mut Random) -> Result<case::Reached, String> {
    match catch_unwind(AssertUnwindSafe(|| case::run(input, random))) {
        Ok(Ok(reached)) => Ok(reached),
        Ok(Err(defect)) => Err(format!("{defect:#}")),
        Err(_) => Err(PANIC.take()),
    }
}
