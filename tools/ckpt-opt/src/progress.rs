//! A sign of life on a terminal for anything that takes longer than two seconds.

use std::io::{IsTerminal as _, Write as _};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Silence before the first sign.
const PATIENCE: Duration = Duration::from_secs(2);

/// Does `work` and says, on a terminal, that `what` is going on and for how long.
pub(crate) fn during<T>(what: &str, work: impl FnOnce() -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return work();
    }
    let start = Instant::now();
    let (done, waiting) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut pause = PATIENCE;
            let mut spoke = false;
            while waiting.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                tell_part!("\r{what} … {} s", start.elapsed().as_secs());
                let _ = std::io::stderr().flush();
                spoke = true;
                pause = Duration::from_secs(1);
            }
            if spoke {
                tell_part!("\r\x1b[K");
            }
        });
        let result = work();
        drop(done);
        result
    })
}
