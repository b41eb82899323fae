//! The child process of the engine: reads requests from stdin, writes reports to stdout, and exits with its parent.
//!
//! Owns the thread that owns the engine, and the threads that answer queries. Their stacks are large enough for hostile
//! nesting; a stack overflow that happens anyway ends only this process.

use std::collections::{HashMap, VecDeque};

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::engine::{Answered, Observer};
use super::ty::{Answerer, Embedded};
use super::values::Query;
use super::wire::{Report, Request};
use crate::child_process::own_end;
use crate::error::{Error, ErrorKind, Result};

/// The system commits only the part that is used.
pub(in crate::pytypes) const STACK: usize = 256 << 20;
/// Queries that are answered concurrently; the rest wait in a queue.
const ANSWERERS: usize = 4;

/// Serves until stdin ends.
pub fn serve(open: impl FnOnce() -> Result<Embedded> + Send + 'static) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().stack_size(STACK).thread_name(|at| format!("check-{at}"));
    pool.build_global().map_err(|error| Error::internal("cannot start the threads of the engine").caused_by(error))?;
    let owner = std::thread::Builder::new().name("engine".to_owned()).stack_size(STACK);
    let owner = owner.spawn(move || run_owner(open)).map_err(Error::no_thread)?;
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
    answerer: Answerer,
}

fn run_owner(open: impl FnOnce() -> Result<Embedded>) -> Result<()> {
    let (events, inbox) = unbounded();
    let reading = events.clone();
    let reader = std::thread::Builder::new().name("requests".to_owned());
    reader.spawn(move || read(&reading)).map_err(Error::no_thread)?;
    let mut engine = open()?;
    send(&Report::Libraries { folders: engine.libraries() });
    send(&Report::Ready { version: env!("CARGO_PKG_VERSION").to_owned() });
    let (jobs, queue) = unbounded();
    let answer = move |Job { id, query, answerer }: Job| {
        let answered = answerer.answer(&query, &ProgressReporter { id });
        // A pending change proceeds only after the answerer is dropped.
        drop(answerer);
        let _owner_has_ended = events.send(Event::Answered(id, query, answered));
    };
    own_end::start_workers("answer", ANSWERERS, STACK, &queue, answer)?;
    Owner { jobs, idle: ANSWERERS, waiting: VecDeque::new(), running: HashMap::new() }.run(&mut engine, &inbox)
}

fn read(events: &Sender<Event>) {
    for request in own_end::requests() {
        let _owner_has_ended = events.send(Event::Request(request));
    }
    let _owner_has_ended = events.send(Event::End);
}

struct Owner {
    jobs: Sender<Job>,
    idle: usize,
    waiting: VecDeque<(u64, Query)>,
    /// The canceller of each running query; `None` if already cancelled.
    running: HashMap<u64, Option<Canceller>>,
}

impl Owner {
    fn run(mut self, engine: &mut Embedded, inbox: &Receiver<Event>) -> Result<()> {
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
                        send(&Report::Libraries { folders });
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
                        failed(id, &error);
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
            failed(id, &cancelled());
        } else if let Some(cancel) = self.running.get_mut(&id).and_then(Option::take) {
            cancel();
        }
    }

    fn answered(&mut self, id: u64, query: Query, answered: Result<Answered>) {
        self.idle += 1;
        let is_cancelled = self.running.remove(&id).is_some_and(|canceller| canceller.is_none());
        match answered {
            Ok(Answered::Done(answer)) => send(&Report::Done { id, answer: *answer }),
            Ok(Answered::Interrupted) if !is_cancelled => self.waiting.push_front((id, query)),
            Ok(_) => failed(id, &cancelled()),
            Err(error) => failed(id, &error),
        }
    }
}

fn cancelled() -> Error {
    Error::new(ErrorKind::Cancelled, "the call was cancelled")
}

fn send(report: &Report) {
    own_end::send(report, &[]);
}

fn failed(id: u64, error: &Error) {
    send(&Report::Failed { id, fault: error.into() });
}

/// Reports the progress of one query to the parent.
struct ProgressReporter {
    id: u64,
}

impl Observer for ProgressReporter {
    fn begins(&self, file: &str) {
        let thread = rayon::current_thread_index().unwrap_or(usize::MAX);
        send(&Report::At { id: self.id, thread, file: Some(file.to_owned()) });
    }

    fn ends(&self) {
        let thread = rayon::current_thread_index().unwrap_or(usize::MAX);
        send(&Report::At { id: self.id, thread, file: None });
    }

    fn advanced(&self, done: usize, total: usize) {
        if done.is_multiple_of(32) || done == total {
            send(&Report::Progress { id: self.id, done, total });
        }
    }
}
