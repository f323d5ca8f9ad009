//! The grid of processes, `interpreter.run_parallel`, and who waits for whom.
//!
//! Processes are machines that take turns: each runs until it has to wait, and
//! goes on when its partners have arrived. There are no threads, so that every
//! run is the same.

use crate::collectives;
use crate::error::{Fault, Outcome, invalid};
use crate::machine::{Machine, Pause, Resume, Values};
use crate::site::Site;
use crate::tensor::{Tensor, Value};
use ckpt_ir::{Attr, AttrId, BlockId, Module, OpId, OpKind};
use smallvec::smallvec;
use std::collections::{BTreeMap, VecDeque};

/// A process of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Process {
    /// Its replica.
    pub(crate) replica: u32,
    /// Its partition.
    pub(crate) partition: u32,
}

/// How many replicas and partitions there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub(crate) replicas: u32,
    pub(crate) partitions: u32,
}

/// What a process brings to an operation that needs others.
pub(crate) struct Post {
    /// The operation.
    pub(crate) op: OpId,
    /// The operands.
    pub(crate) operands: Values,
}

impl Post {
    /// Whether operations of this kind need other processes, or the host.
    pub(crate) fn waits(kind: OpKind) -> bool {
        use OpKind as K;
        matches!(kind, K::Send | K::Recv | K::Infeed | K::Outfeed) || collectives::is_collective(kind)
    }
}

/// A process with what it does.
struct Member<'m> {
    machine: Machine<'m>,
    waiting: Option<Post>,
    results: Option<Values>,
}

/// The processes and what is between them.
pub(crate) struct Scheduler<'m> {
    module: &'m Module,
    grid: Grid,
    members: Vec<Member<'m>>,
    infeed: VecDeque<BlockId>,
    channels: BTreeMap<i64, VecDeque<Values>>,
    /// The operation at which a process failed.
    failed_at: Option<OpId>,
}

impl<'m> Scheduler<'m> {
    /// A scheduler without processes.
    pub(crate) fn new(module: &'m Module, grid: Grid, infeed: VecDeque<BlockId>) -> Self {
        Self { module, grid, members: Vec::new(), infeed, channels: BTreeMap::new(), failed_at: None }
    }

    /// The operation at which a process failed.
    pub(crate) fn failed_at(&self) -> Option<OpId> {
        self.failed_at
    }

    /// Adds a process that runs a block.
    pub(crate) fn add(&mut self, mut machine: Machine<'m>, body: BlockId, arguments: Values) -> Outcome<()> {
        machine.enter(body, arguments, Resume::Answer)?;
        self.members.push(Member { machine, waiting: None, results: None });
        Ok(())
    }

    /// Runs all processes to their ends; their results in order.
    pub(crate) fn run(&mut self) -> Outcome<Vec<Values>> {
        for member in 0..self.members.len() {
            let paused = self.members[member].machine.run();
            self.note(member, paused)?;
        }
        while self.members.iter().any(|member| member.results.is_none()) {
            let mut progress = false;
            for member in 0..self.members.len() {
                progress |= self.serve(member)?;
            }
            if !progress {
                self.failed_at = self.members.iter().find_map(|m| m.waiting.as_ref().map(|post| post.op));
                return Err(Fault::Deadlock);
            }
        }
        Ok(self.members.iter_mut().filter_map(|member| member.results.take()).collect())
    }

    /// Takes in how a process' run ended.
    fn note(&mut self, member: usize, paused: Outcome<Pause>) -> Outcome<()> {
        let member = &mut self.members[member];
        match paused {
            Ok(Pause::Done(values)) => member.results = Some(values),
            Ok(Pause::Waiting(post)) => member.waiting = Some(post),
            Err(fault) => {
                self.failed_at = member.machine.failed_at();
                return Err(fault);
            }
        }
        Ok(())
    }

    /// Lets a process go on with the results of what it waited for.
    fn resume(&mut self, member: usize, results: Values) -> Outcome<()> {
        let Some(post) = self.members[member].waiting.take() else { return Ok(()) };
        let paused = self.members[member].machine.resume(post.op, results);
        self.note(member, paused)
    }

    /// Serves a waiting process if that is possible now.
    fn serve(&mut self, member: usize) -> Outcome<bool> {
        let Some(post) = &self.members[member].waiting else { return Ok(false) };
        let site = Site { module: self.module, op: post.op };
        let outcome = match site.kind() {
            OpKind::Outfeed => Ok(Some(smallvec![Value::Token])),
            OpKind::Infeed => self.infeed(member),
            OpKind::Send => {
                let mut sent = post.operands.clone();
                sent.pop();
                self.channels.entry(channel(site)).or_default().push_back(sent);
                Ok(Some(smallvec![Value::Token]))
            }
            OpKind::Recv => Ok(self.channels.entry(channel(site)).or_default().pop_front().map(with_token)),
            _ => return self.rendezvous(member, site),
        };
        match outcome {
            Ok(Some(results)) => self.resume(member, results).map(|()| true),
            Ok(None) => Ok(false),
            Err(fault) => {
                self.failed_at.get_or_insert(site.op);
                Err(fault)
            }
        }
    }

    /// The next data of the infeed: what its function returns.
    fn infeed(&mut self, member: usize) -> Outcome<Option<Values>> {
        let Some(body) = self.infeed.pop_front() else { return Ok(None) };
        let values = self.members[member].machine.invoke(body, Values::new())?;
        Ok(Some(with_token(values)))
    }

    /// Runs a collective if the whole group of a process has arrived.
    fn rendezvous(&mut self, member: usize, site: Site<'m>) -> Outcome<bool> {
        let here = |fault| {
            self.failed_at.get_or_insert(site.op);
            fault
        };
        let process = self.members[member].machine.process;
        let group = collectives::group(site, self.grid, process).map_err(here)?;
        let arrived = |process: &Process| {
            self.members.iter().position(|m| {
                let same = |post: &Post| {
                    let other = Site { module: self.module, op: post.op };
                    other.kind() == site.kind() && channel(other) == channel(site)
                };
                m.machine.process == *process && m.waiting.as_ref().is_some_and(same)
            })
        };
        let Some(positions) = group.iter().map(arrived).collect::<Option<Vec<usize>>>() else {
            return Ok(false);
        };
        let mut operands: Vec<Vec<Tensor>> = Vec::new();
        for &position in &positions {
            let values = self.members[position].waiting.as_ref().map(|post| &post.operands);
            let tensors = values.into_iter().flatten().map(|value| value.tensor().cloned());
            operands.push(tensors.collect::<Outcome<_>>()?);
        }
        if positions.is_empty() {
            // In no group: the process goes on alone.
            let results = collectives::outside(site)?;
            return self.resume(member, results).map(|()| true);
        }
        for (index, &position) in positions.iter().enumerate() {
            let op = self.members[position].waiting.as_ref().map_or(site.op, |post| post.op);
            let own = Site { module: self.module, op };
            let machine = &mut self.members[position].machine;
            let results = collectives::results(machine, own, &group, index, &operands);
            match results {
                Ok(results) => self.resume(position, results)?,
                Err(fault) => {
                    self.failed_at.get_or_insert(op);
                    return Err(fault);
                }
            }
        }
        Ok(true)
    }
}

fn with_token(mut values: Values) -> Values {
    values.push(Value::Token);
    values
}

/// The channel of an operation; zero if it has none.
pub(crate) fn channel(site: Site<'_>) -> i64 {
    match site.attr("channel_handle") {
        Some(Attr::ChannelHandle { handle, .. }) => *handle,
        _ => 0,
    }
}

/// Evaluates `interpreter.run_parallel`: each program is a process, replicas
/// outside, partitions inside; operands and results follow in that order.
pub(crate) fn run_parallel(machine: &mut Machine<'_>, site: Site<'_>, operands: Values) -> Outcome<Values> {
    let module = machine.module;
    let rows = array(module, site.attr("programs"))?;
    let mut programs: Vec<Vec<BlockId>> = Vec::new();
    for row in rows {
        let row = array(module, Some(module.attrs.get(*row)))?;
        programs.push(row.iter().map(|name| function(module, *name)).collect::<Outcome<_>>()?);
    }
    let infeed = match site.attr("infeed") {
        None => VecDeque::new(),
        attr => array(module, attr)?.iter().map(|name| function(module, *name)).collect::<Outcome<_>>()?,
    };
    let partitions = programs.first().map_or(0, Vec::len);
    if partitions == 0 || programs.iter().any(|row| row.len() != partitions) {
        return invalid("the programs of run_parallel form no grid");
    }
    let grid = Grid { replicas: programs.len() as u32, partitions: partitions as u32 };
    let mut scheduler = Scheduler::new(module, grid, infeed);
    let mut operands = operands.into_iter();
    for (replica, row) in programs.into_iter().enumerate() {
        for (partition, body) in row.into_iter().enumerate() {
            let process = Process { replica: replica as u32, partition: partition as u32 };
            let arguments = operands.by_ref().take(module.block(body).arguments.len()).collect();
            let member = Machine::new(module, machine.last_uses(), process, machine.limits);
            scheduler.add(member, body, arguments)?;
        }
    }
    match scheduler.run() {
        Ok(results) => Ok(results.into_iter().flatten().collect()),
        Err(fault) => {
            machine.blame(scheduler.failed_at());
            Err(fault)
        }
    }
}

fn array<'m>(module: &'m Module, attr: Option<&'m Attr>) -> Outcome<&'m [AttrId]> {
    let _ = module;
    match attr {
        Some(Attr::Array(items)) => Ok(items),
        _ => invalid("a list of programs is missing"),
    }
}

fn function(module: &Module, name: AttrId) -> Outcome<BlockId> {
    let found = match module.attrs.get(name) {
        Attr::SymbolRef(path) => path.first().and_then(|name| module.function(module.names.get(*name))),
        _ => None,
    };
    let body = found.and_then(|function| module.function_body(function));
    body.map_or_else(|| invalid("run_parallel names a function that is not there"), Ok)
}
