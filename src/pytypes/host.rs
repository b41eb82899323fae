//! The child process of the engine: reads requests from stdin, writes reports to stdout, and exits with its parent.
//!
//! Owns the thread that owns the engine, and the threads that answer queries. Their stacks are large enough for hostile
//! nesting; a stack overflow that happens anyway ends this process alone.

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};

use super::engine::{Answered, Answerer, Engine, Observer};
use super::values::Query;
use super::wire::{Report, Request};
use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;

/// The system commits only the part that is used.
pub(in crate::pytypes) const STACK: usize = 256 << 20;
/// Queries that are answered concurrently; the rest wait in a queue.
const ANSWERERS: usize = 4;

/// Serves until stdin ends.
pub fn serve(open: impl FnOnce() -> Result<Box<dyn Engine>> + Send + 'static) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().stack_size(STACK).thread_name(|at| format!("check-{at}"));
    pool.build_global().map_err(|error| Error::internal("cannot start the threads of the engine").caused_by(error))?;
    let owner = std::thread::Builder::new().name("engine".to_owned()).stack_size(STACK);
    let owner = owner
        .spawn(move || run_owner(open))
        .map_err(|error| Error::internal("cannot start a thread").caused_by(error))?;
    owner.join().unwrap_or_else(|_| Err(Error::internal("the type engine failed to start")))
}

/// Events for the owner thread.
enum Event {
    Request(Request),
    Answered(u64, Query, Result<Answered>),
    End,
}

type Canceller = Box<dyn Fn() + Send + Sync>;

struct Job {
    id: u64,
    query: Query,
    answerer: Box<dyn Answerer>,
}

fn run_owner(open: impl FnOnce() -> Result<Box<dyn Engine>>) -> Result<()> {
    let (events, inbox) = mpsc::channel();
    let reading = events.clone();
    let reader = std::thread::Builder::new().name("requests".to_owned());
    reader.spawn(move || read(&reading)).map_err(|error| Error::internal("cannot start a thread").caused_by(error))?;
    let out = Arc::new(ReportWriter(Mutex::new(())));
    let mut engine = open()?;
    out.send(&Report::Libraries { folders: engine.libraries() });
    out.send(&Report::Ready { version: env!("CARGO_PKG_VERSION").to_owned() });
    let jobs = spawn_answerers(&events, &out)?;
    Owner { jobs, idle: ANSWERERS, waiting: VecDeque::new(), running: HashMap::new(), out: &out }
        .run(&mut *engine, &inbox)
}

fn read(events: &Sender<Event>) {
    for line in BufReader::new(std::io::stdin()).lines() {
        let Ok(line) = line else { break };
        match serde_json::from_str(&line) {
            Ok(request) => drop(events.send(Event::Request(request))),
            Err(error) => tracing::warn!(%error, "invalid request"),
        }
    }
    let _owner_has_ended = events.send(Event::End);
}

/// Starts the threads that answer queries from one queue.
fn spawn_answerers(events: &Sender<Event>, out: &Arc<ReportWriter>) -> Result<Sender<Job>> {
    let (jobs, queue) = mpsc::channel::<Job>();
    let queue = Arc::new(Mutex::new(queue));
    for at in 0..ANSWERERS {
        let (queue, events, out) = (Arc::clone(&queue), events.clone(), Arc::clone(out));
        let thread = std::thread::Builder::new().name(format!("answer-{at}")).stack_size(STACK);
        let spawned = thread.spawn(move || {
            loop {
                let next = locked(&queue).recv();
                let Ok(Job { id, query, answerer }) = next else { return };
                let answered = answerer.answer(&query, &ProgressReporter { id, out: &out });
                // A pending change proceeds only after the answerer is dropped.
                drop(answerer);
                let _owner_has_ended = events.send(Event::Answered(id, query, answered));
            }
        });
        spawned.map_err(|error| Error::internal("cannot start a thread").caused_by(error))?;
    }
    Ok(jobs)
}

struct Owner<'o> {
    jobs: Sender<Job>,
    idle: usize,
    waiting: VecDeque<(u64, Query)>,
    /// The canceller of each running query; `None` if already cancelled.
    running: HashMap<u64, Option<Canceller>>,
    out: &'o ReportWriter,
}

impl Owner<'_> {
    fn run(mut self, engine: &mut dyn Engine, inbox: &Receiver<Event>) -> Result<()> {
        while let Ok(event) = inbox.recv() {
            match event {
                Event::End => break,
                Event::Request(Request::Ask { id, query }) => self.waiting.push_back((id, query)),
                Event::Request(Request::Cancel { id }) => self.cancel(id),
                Event::Request(Request::Apply { changes }) => {
                    let before = engine.libraries();
                    engine.apply(&changes)?;
                    let folders = engine.libraries();
                    if folders != before {
                        self.out.send(&Report::Libraries { folders });
                    }
                }
                Event::Request(Request::Quarantine { files }) => engine.quarantine(&files)?,
                Event::Answered(id, query, answered) => {
                    self.answered(id, query, answered);
                    if self.running.is_empty() {
                        engine.trim_memory();
                    }
                }
            }
            while self.idle > 0
                && let Some((id, query)) = self.waiting.pop_front()
            {
                let answerer = match engine.answerer(&query) {
                    Ok(answerer) => answerer,
                    Err(error) => {
                        self.out.failed(id, &error);
                        continue;
                    }
                };
                self.running.insert(id, Some(answerer.canceller()));
                self.idle -= 1;
                let _answerers_outlive_the_owner = self.jobs.send(Job { id, query, answerer });
            }
        }
        Ok(())
    }

    fn cancel(&mut self, id: u64) {
        if let Some(at) = self.waiting.iter().position(|(waiting, _)| *waiting == id) {
            self.waiting.remove(at);
            self.out.failed(id, &cancelled());
        } else if let Some(cancel) = self.running.get_mut(&id).and_then(Option::take) {
            cancel();
        }
    }

    fn answered(&mut self, id: u64, query: Query, answered: Result<Answered>) {
        self.idle += 1;
        let is_cancelled = self.running.remove(&id).is_some_and(|canceller| canceller.is_none());
        match answered {
            Ok(Answered::Done(answer)) => self.out.send(&Report::Done { id, answer: *answer }),
            Ok(Answered::Interrupted) if !is_cancelled => self.waiting.push_front((id, query)),
            Ok(_) => self.out.failed(id, &cancelled()),
            Err(error) => self.out.failed(id, &error),
        }
    }
}

fn cancelled() -> Error {
    Error::new(ErrorKind::Cancelled, "the call was cancelled")
}

/// Writes reports to stdout, one line at a time.
struct ReportWriter(Mutex<()>);

impl ReportWriter {
    fn send(&self, report: &Report) {
        let Ok(mut line) = serde_json::to_vec(report) else { return };
        line.push(b'\n');
        let _one_line_at_a_time = locked(&self.0);
        let mut stdout = std::io::stdout().lock();
        // If the parent is gone, stdin is closed too.
        let _ = stdout.write_all(&line).and_then(|()| stdout.flush());
    }

    fn failed(&self, id: u64, error: &Error) {
        self.send(&Report::Failed { id, fault: error.into() });
    }
}

/// Reports the progress of one query to the parent.
struct ProgressReporter<'o> {
    id: u64,
    out: &'o ReportWriter,
}

impl Observer for ProgressReporter<'_> {
    fn begins(&self, file: &str) {
        let thread = rayon::current_thread_index().unwrap_or(usize::MAX);
        self.out.send(&Report::At { id: self.id, thread, file: Some(file.to_owned()) });
    }

    fn ends(&self) {
        let thread = rayon::current_thread_index().unwrap_or(usize::MAX);
        self.out.send(&Report::At { id: self.id, thread, file: None });
    }

    fn advanced(&self, done: usize, total: usize) {
        if done.is_multiple_of(32) || done == total {
            self.out.send(&Report::Progress { id: self.id, done, total });
        }
    }
}
