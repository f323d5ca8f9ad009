//! The process that starts workers and goes on behind a case that ended one:
//! stack overflows, aborts, too much memory and hangs are found here.

use crate::corpus::Corpus;
use crate::progress::Progress;
use crate::{Args, findings, worker};
use anyhow::Context as _;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A case that runs so long hangs. A slow case is run several times, see `worker`.
const HANG: Duration = Duration::from_secs(20);

/// How often the supervisor looks.
const POLL: Duration = Duration::from_millis(100);

/// What came of a run.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    /// The workers' counters.
    pub(crate) progress: Progress,
    /// Cases that ended a worker.
    pub(crate) crashes: u64,
    /// Cases that did not end.
    pub(crate) hangs: u64,
}

/// Runs workers until `args.seconds` are over.
pub(crate) fn run(args: &Args, corpus: &Corpus) -> anyhow::Result<Summary> {
    let file = tempfile::NamedTempFile::new().context("a progress file")?;
    let deadline = Instant::now() + Duration::from_secs_f64(args.seconds);
    let mut summary = Summary::default();
    let mut start = args.start;
    while Instant::now() < deadline {
        let mut child = spawn(file.path(), start, deadline)?;
        let ended = wait(&mut child, file.as_file())?;
        let progress = Progress::read(file.as_file())?;
        if ended.is_some_and(|status| status.success()) {
            break;
        }
        let what = match ended {
            None => {
                summary.hangs += 1;
                format!("hang: more than {} s", HANG.as_secs())
            }
            Some(status) => {
                summary.crashes += 1;
                format!("the process ended with {status}")
            }
        };
        let (input, _) = worker::input(args.target, corpus, args.seed, progress.case);
        findings::keep(args, progress.case, &input, &what)?;
        start = progress.case + 1;
    }
    summary.progress = Progress::read(file.as_file())?;
    Ok(summary)
}

fn spawn(progress: &Path, start: u64, deadline: Instant) -> anyhow::Result<Child> {
    let seconds = deadline.saturating_duration_since(Instant::now()).as_secs_f64();
    let mut command = Command::new(std::env::current_exe()?);
    command.args(std::env::args_os().skip(1)).arg("--worker").arg(progress);
    command.arg(format!("--start={start}")).arg(format!("--seconds={seconds}"));
    command.stdin(Stdio::null()).spawn().context("a worker does not start")
}

/// The worker's exit status; none if it hung and was ended.
fn wait(child: &mut Child, progress: &File) -> anyhow::Result<Option<ExitStatus>> {
    let mut last = (u64::MAX, Instant::now());
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let case = Progress::read(progress)?.case;
        if case != last.0 {
            last = (case, Instant::now());
        } else if last.1.elapsed() > HANG {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(POLL);
    }
}
