//! A child process of the program that answers over stdin and stdout, and the latency of its answers.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub struct Server {
    child: Child,
    stdin: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Server {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
        let stdin = child.stdin.take().expect("stdin is a pipe");
        let answers = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
        Self { child, stdin, answers }
    }

    /// Calls a tool by its plain method.
    pub fn ask(&mut self, tool: &str, arguments: &Value) -> (Value, Duration) {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": tool, "params": arguments });
        let begun = Instant::now();
        writeln!(self.stdin, "{request}").expect("the server reads");
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("the server answers");
        let took = begun.elapsed();
        let mut answer: Value = serde_json::from_str(&line).expect("answers are JSON");
        assert!(answer["error"].is_null(), "{tool} {arguments}: {answer}");
        (answer["result"].take(), took)
    }

    #[allow(dead_code, reason = "only one bench measures the memory of the process")]
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
