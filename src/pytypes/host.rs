//! The engine's own process: takes orders on stdin, reports on stdout, and ends with its parent.
//!
//! Owns the thread that owns the engine, and the threads that answer. All have stacks that hostile nesting does not
//! overrun; what overruns them all the same ends this process alone.

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};

use super::engine::{Answered, Answerer, Engine, Witness};
use super::values::Question;
use super::wire::{Order, Report};
use crate::error::{Error, ErrorKind, Result};
use crate::locked::locked;

/// Committed by the system only as far as it is used.
pub(in crate::pytypes) const STACK: usize = 256 << 20;
/// Questions that are answered at once; more wait their turn.
const ANSWERERS: usize = 4;

/// Serves until stdin ends.
pub fn serve(open: impl FnOnce() -> Result<Box<dyn Engine>> + Send + 'static) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().stack_size(STACK).thread_name(|at| format!("check-{at}"));
    pool.build_global().map_err(|error| Error::internal("cannot start the engine's threads").caused_by(error))?;
    let owner = std::thread::Builder::new().name("engine".to_owned()).stack_size(STACK);
    let owner =
        owner.spawn(move || own(open)).map_err(|error| Error::internal("cannot start a thread").caused_by(error))?;
    owner.join().unwrap_or_else(|_| Err(Error::internal("the type engine failed while it was started")))
}

/// What reaches the owner.
enum Event {
    Order(Order),
    Answered(u64, Question, Result<Answered>),
    End,
}

type Canceller = Box<dyn Fn() + Send + Sync>;

struct Job {
    id: u64,
    question: Question,
    answerer: Box<dyn Answerer>,
}

fn own(open: impl FnOnce() -> Result<Box<dyn Engine>>) -> Result<()> {
    let (events, inbox) = mpsc::channel();
    let reading = events.clone();
    let reader = std::thread::Builder::new().name("orders".to_owned());
    reader.spawn(move || read(&reading)).map_err(|error| Error::internal("cannot start a thread").caused_by(error))?;
    let out = Arc::new(Out(Mutex::new(())));
    let mut engine = open()?;
    out.send(&Report::Libraries { folders: engine.libraries() });
    out.send(&Report::Ready { version: env!("CARGO_PKG_VERSION").to_owned() });
    let jobs = answerers(&events, &out)?;
    Owner { jobs, idle: ANSWERERS, waiting: VecDeque::new(), running: HashMap::new(), out: &out }
        .run(&mut *engine, &inbox)
}

fn read(events: &Sender<Event>) {
    for line in BufReader::new(std::io::stdin()).lines() {
        let Ok(line) = line else { break };
        match serde_json::from_str(&line) {
            Ok(order) => drop(events.send(Event::Order(order))),
            Err(error) => tracing::warn!(%error, "an order was not understood"),
        }
    }
    let _owner_has_ended = events.send(Event::End);
}

/// Threads that answer, behind one queue.
fn answerers(events: &Sender<Event>, out: &Arc<Out>) -> Result<Sender<Job>> {
    let (jobs, queue) = mpsc::channel::<Job>();
    let queue = Arc::new(Mutex::new(queue));
    for at in 0..ANSWERERS {
        let (queue, events, out) = (Arc::clone(&queue), events.clone(), Arc::clone(out));
        let thread = std::thread::Builder::new().name(format!("answer-{at}")).stack_size(STACK);
        let spawned = thread.spawn(move || {
            loop {
                let next = locked(&queue).recv();
                let Ok(Job { id, question, answerer }) = next else { return };
                let answered = answerer.answer(&question, &Telling { id, out: &out });
                // A waiting change goes on only when this is gone.
                drop(answerer);
                let _owner_has_ended = events.send(Event::Answered(id, question, answered));
            }
        });
        spawned.map_err(|error| Error::internal("cannot start a thread").caused_by(error))?;
    }
    Ok(jobs)
}

struct Owner<'o> {
    jobs: Sender<Job>,
    idle: usize,
    waiting: VecDeque<(u64, Question)>,
    /// `None`: cancelled.
    running: HashMap<u64, Option<Canceller>>,
    out: &'o Out,
}

impl Owner<'_> {
    fn run(mut self, engine: &mut dyn Engine, inbox: &Receiver<Event>) -> Result<()> {
        while let Ok(event) = inbox.recv() {
            match event {
                Event::End => break,
                Event::Order(Order::Ask { id, question }) => self.waiting.push_back((id, question)),
                Event::Order(Order::Cancel { id }) => self.cancel(id),
                Event::Order(Order::Apply { changes }) => {
                    let before = engine.libraries();
                    engine.apply(&changes)?;
                    let folders = engine.libraries();
                    if folders != before {
                        self.out.send(&Report::Libraries { folders });
                    }
                }
                Event::Order(Order::Shelve { files }) => engine.shelve(&files)?,
                Event::Answered(id, question, answered) => {
                    self.answered(id, question, answered);
                    if self.running.is_empty() {
                        engine.settle();
                    }
                }
            }
            while self.idle > 0
                && let Some((id, question)) = self.waiting.pop_front()
            {
                let answerer = match engine.answerer(&question) {
                    Ok(answerer) => answerer,
                    Err(error) => {
                        self.out.failed(id, &error);
                        continue;
                    }
                };
                self.running.insert(id, Some(answerer.canceller()));
                self.idle -= 1;
                let _answerers_live_as_long = self.jobs.send(Job { id, question, answerer });
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

    fn answered(&mut self, id: u64, question: Question, answered: Result<Answered>) {
        self.idle += 1;
        let is_cancelled = self.running.remove(&id).is_some_and(|canceller| canceller.is_none());
        match answered {
            Ok(Answered::Done(answer)) => self.out.send(&Report::Done { id, answer: *answer }),
            Ok(Answered::Interrupted) if !is_cancelled => self.waiting.push_front((id, question)),
            Ok(_) => self.out.failed(id, &cancelled()),
            Err(error) => self.out.failed(id, &error),
        }
    }
}

fn cancelled() -> Error {
    Error::new(ErrorKind::Cancelled, "the call was cancelled")
}

/// stdout, a line at a time.
struct Out(Mutex<()>);

impl Out {
    fn send(&self, report: &Report) {
        let Ok(mut line) = serde_json::to_vec(report) else { return };
        line.push(b'\n');
        let _one_line_at_a_time = locked(&self.0);
        let mut stdout = std::io::stdout().lock();
        // A parent that is gone has closed stdin too.
        let _ = stdout.write_all(&line).and_then(|()| stdout.flush());
    }

    fn failed(&self, id: u64, error: &Error) {
        self.send(&Report::Failed { id, fault: error.into() });
    }
}

/// Tells the parent how far one question is.
struct Telling<'o> {
    id: u64,
    out: &'o Out,
}

impl Witness for Telling<'_> {
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
