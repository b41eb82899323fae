//! Repositories made of text, and the program run on them as a person or a client would.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// A folder in memory, where there is one.
const MEMORY: &str = "/dev/shm";
/// More than all tests together use at a time.
const NEEDED_BYTES: u64 = 3 << 30;

/// Puts temporary folders in memory, unless there is too little of it or `TMPDIR` names another folder: tests make thousands of
/// files and soon remove them.
fn prefer_memory() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let free = |found: rustix::fs::StatVfs| found.f_bavail * found.f_frsize;
        let has_space = rustix::fs::statvfs(MEMORY).is_ok_and(|found| free(found) > NEEDED_BYTES);
        if has_space && std::env::var_os("TMPDIR").is_none() {
            // Fails where it is set already.
            let _ = tempfile::env::override_temp_dir(Path::new(MEMORY));
        }
    });
}

/// Repeats `other`, with the number of the round, while `work` runs. `work` begins after the first round. A panic in either ends
/// both.
pub fn repeatedly<T>(mut other: impl FnMut(u64) + Send, work: impl FnOnce() -> T) -> T {
    struct SetOnDrop<'a>(&'a AtomicBool);

    impl Drop for SetOnDrop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    let (is_over, rounds) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let repeating = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                other(rounds.load(Ordering::Relaxed));
                rounds.fetch_add(1, Ordering::Relaxed);
            }
        });
        let _over = SetOnDrop(&is_over);
        while rounds.load(Ordering::Relaxed) == 0 && !repeating.is_finished() {
            std::thread::yield_now();
        }
        work()
    })
}

/// The time at the start of a line of the log, with the white space after it.
fn logged_time(line: &str) -> &str {
    let time = line.split(' ').next().unwrap();
    let is_time = time.ends_with('Z') && time.contains('T') && time.bytes().filter(u8::is_ascii_digit).count() >= 14;
    if is_time { &line[..line.len() - line[time.len()..].trim_start().len()] } else { "" }
}

/// `text` with N for each number, where numbers differ each time.
pub fn numberless(text: &str) -> String {
    let mut shown = String::new();
    for letter in text.chars() {
        match letter {
            '0'..='9' if shown.ends_with('N') => {}
            '0'..='9' => shown.push('N'),
            other => shown.push(other),
        }
    }
    shown
}

/// The line that shows a command in a transcript.
fn prompt(command: &[&str]) -> String {
    let quoted = |word: &&str| match *word {
        word if word.contains('\'') => format!("\"{word}\""),
        word if word.is_empty() || word.contains([' ', '"']) => format!("'{word}'"),
        word => word.to_owned(),
    };
    format!("$ ixmcp {}\n", command.iter().map(quoted).collect::<Vec<_>>().join(" "))
}

/// A run as a transcript has it: the command, what it printed to stdout, then to stderr, and its exit code if that is not 0.
pub fn shown_run(command: &[&str], output: &Output) -> String {
    let printed = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    let code = output.status.code().filter(|code| *code != 0).map(|code| format!("exit code {code}\n"));
    [&prompt(command), printed[0].as_ref(), printed[1].as_ref(), &code.unwrap_or_default()].concat()
}

/// A repository in a folder of its own, which goes when this does.
pub struct Repo {
    folder: TempDir,
    /// The home folder that the program is given: nothing of the real one may be read.
    home: TempDir,
}

impl Repo {
    /// Files as blocks, each headed by `//- /path`.
    pub fn new(files: &str) -> Self {
        prefer_memory();
        let folder = tempfile::Builder::new().prefix("ixmcp-test").tempdir().unwrap();
        // The root must be found here, not further up.
        fs::create_dir(folder.path().join(".git")).unwrap();
        let repo = Self { folder, home: tempfile::tempdir().unwrap() };
        repo.write_files(files);
        repo
    }

    /// Writes files given as blocks, each headed by `//- /path`.
    pub fn write_files(&self, files: &str) {
        for block in files.split("//- /").skip(1) {
            let (path, text) = block.split_once('\n').unwrap();
            self.write(path.trim(), text);
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// For random steps: what is in the way stays.
    pub fn write_if_possible(&self, path: &str, text: &str) {
        self.save_if_possible(&self.path().join(path), text.as_bytes());
    }

    /// Never through a link: it may lead out of the repository, where other tests would find what it made.
    pub fn save_if_possible(&self, path: &Path, content: &[u8]) {
        let folder = path.parent().unwrap();
        if fs::create_dir_all(folder).is_err() || !self.holds(folder) {
            return;
        }
        if path.is_symlink() {
            let _ = fs::remove_file(path);
        }
        let _ = fs::write(path, content);
    }

    /// Whether what is at `path`, links followed, lies in the repository.
    pub fn holds(&self, path: &Path) -> bool {
        path.canonicalize().is_ok_and(|path| path.starts_with(self.path().canonicalize().unwrap()))
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.path().join(path)).unwrap();
    }

    pub fn database(&self) -> PathBuf {
        self.path().join(".ixmcp/index.db")
    }

    /// The program with `arguments`, not started yet. It builds the whole index before it answers.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.plain_command(&[&["--wait"], arguments].concat())
    }

    /// The program with `arguments` and nothing else, not started yet.
    pub fn plain_command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ixmcp"));
        command.args(arguments).current_dir(self.path());
        for variable in [
            "CLAUDE_PROJECT_DIR",
            "XDG_CACHE_HOME",
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "COPILOT_HOME",
            "CLINE_DIR",
            "CARGO_HOME",
            "GOPATH",
            "GOMODCACHE",
            "VIRTUAL_ENV",
            "CONDA_PREFIX",
            "XDG_CONFIG_HOME",
            "XDG_STATE_HOME",
            "RUST_LOG",
            "NO_COLOR",
            "CLICOLOR",
            "CLICOLOR_FORCE",
        ] {
            command.env_remove(variable);
        }
        // Settings of the tests begin like those of the program.
        for (variable, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("IXMCP_")) {
            command.env_remove(variable);
        }
        command.env("HOME", self.home.path()).env("XDG_RUNTIME_DIR", self.home.path());
        // No test takes the port that people use, and no daemon outlives its test by much.
        command.env("IXMCP_TCP", "off").env("IXMCP_IDLE", "60s");
        command
    }

    /// The program with `arguments`, which finds no Python of this machine: that may have packages installed.
    pub fn without_python(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(arguments);
        command.env("PATH", "");
        command
    }

    /// Runs the program by `setpriv` with these options, as permissions bind root to nothing. Any other user runs it directly.
    pub fn run_by_setpriv(&self, options: &[&str], arguments: &[&str]) -> Output {
        let mut program = self.command(arguments);
        if fs::metadata("/proc/self").unwrap().uid() != 0 {
            return program.output().unwrap();
        }
        let mut command = Command::new("setpriv");
        command.args(options).arg("--").arg(program.get_program()).args(program.get_args()).current_dir(self.path());
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.output().unwrap()
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// stdout of a run that must succeed.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?} ended with {}: {stderr}", output.status);
        String::from_utf8(output.stdout).unwrap()
    }

    /// stderr of a run that must end with an error.
    pub fn fails(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stderr).unwrap()
    }

    /// A transcript of commands: what each prints to stdout, then to stderr, and its exit code if that is not 0. Paths of this
    /// machine, which differ each time, are replaced by names.
    pub fn transcript(&self, commands: &[&[&str]], paths: &[(&str, &str)]) -> String {
        let shown: String = commands.iter().map(|command| shown_run(command, &self.run(command))).collect();
        self.named(&shown, paths)
    }

    /// A transcript of commands that must fail, with what they print to stderr.
    pub fn failures(&self, commands: &[&[&str]], paths: &[(&str, &str)]) -> String {
        let shown: String =
            commands.iter().map(|command| format!("{}{}", prompt(command), self.fails(command))).collect();
        self.named(&shown, paths)
    }

    /// `text` with names in place of what differs each time: the times of logged lines, the repository's path, and `paths`.
    pub fn named(&self, text: &str, paths: &[(&str, &str)]) -> String {
        let root = self.path().canonicalize().unwrap();
        let all = [paths, &[(root.to_str().unwrap(), "REPOSITORY")]].concat();
        let timeless = text.split_inclusive('\n').map(|line| line.strip_prefix(logged_time(line)).unwrap());
        all.iter().fold(timeless.collect(), |text: String, (path, name)| text.replace(path, name))
    }

    /// A transcript of calls of tools that must fail.
    pub fn refusals(&self, calls: &[(&str, Value)], paths: &[(&str, &str)]) -> String {
        let arguments: Vec<(&str, String)> = calls.iter().map(|(tool, given)| (*tool, given.to_string())).collect();
        let commands: Vec<[&str; 4]> = arguments.iter().map(|(tool, given)| ["call", tool, "--args", given]).collect();
        let commands: Vec<&[&str]> = commands.iter().map(<[&str; 4]>::as_slice).collect();
        self.failures(&commands, paths)
    }

    /// The answer of a tool.
    pub fn call(&self, tool: &str, arguments: &Value) -> Value {
        serde_json::from_str(&self.ok(&["call", tool, "--args", &arguments.to_string()])).unwrap()
    }

    /// Where its daemon listens.
    pub fn socket(&self) -> PathBuf {
        self.path().join(".flashgrep/mcp.sock")
    }

    /// The daemon's status; `running` is false without one.
    pub fn status(&self) -> Value {
        serde_json::from_slice(&self.run(&["daemon", "status", "--json"]).stdout).unwrap()
    }

    /// The summary of a sync.
    pub fn sync(&self) -> Value {
        let text = self.ok(&["sync", "--json"]);
        serde_json::from_str(text.lines().last().unwrap()).unwrap()
    }
}

impl Drop for Repo {
    /// Whatever the test was about, its daemon ends with it.
    fn drop(&mut self) {
        if self.path().join(".flashgrep").exists() {
            let _ = self.command(&["daemon", "stop"]).output();
        }
    }
}

/// Processor time that a process (its number) or this thread (`thread-self`) has had: unlike the clock's, others do not
/// lengthen it.
pub fn processor_time(whose: &str) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{whose}/stat")).unwrap();
    // The name in brackets may hold anything.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11..13].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}

/// A build takes no longer, even where others have the processors.
const WHOLE_INDEX: Duration = Duration::from_secs(120);

/// `ixmcp mcp` at work: a process that stays, and watches.
pub struct Server {
    child: Child,
    stdin: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Server {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, stdin, answers: BufReader::new(stdout) }
    }

    pub fn pid(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.child)
    }

    /// Starts a server for a client of MCP, and performs the handshake.
    pub fn start_mcp(command: Command) -> Self {
        let mut server = Self::start(command);
        let client = serde_json::json!({ "name": "test", "version": "1" });
        let hello = serde_json::json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        let answer = server.response("initialize", &hello);
        assert!(answer["result"]["capabilities"].is_object(), "{answer}");
        let initialized = serde_json::json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        writeln!(server.stdin, "{initialized}").unwrap();
        server
    }

    /// Calls a tool over MCP on the whole index; a call is repeated while the index is being built.
    pub fn tool(&mut self, tool: &str, arguments: &Value) -> Value {
        let call = serde_json::json!({ "name": tool, "arguments": arguments });
        let started = Instant::now();
        while started.elapsed() < WHOLE_INDEX {
            let result = self.response("tools/call", &call)["result"].take();
            let is_busy = result["content"][0]["text"].as_str().is_some_and(|text| text.starts_with("BUSY"));
            if !is_busy && !result["structuredContent"]["indexing"].is_object() {
                return result["structuredContent"].clone();
            }
        }
        panic!("{tool} {arguments}: still busy");
    }

    /// The whole response to one plain call.
    pub fn response(&mut self, tool: &str, arguments: &Value) -> Value {
        let request = serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": tool, "params": arguments });
        writeln!(self.stdin, "{request}").unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// The answer to one plain call that must end well. Where others have the processors a build may take longer than a
    /// call waits; a call is repeated while the build goes on.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let mut response = self.response(tool, arguments);
        let started = Instant::now();
        while started.elapsed() < WHOLE_INDEX {
            if response["error"]["data"]["code"] != "BUSY" && !response["result"]["indexing"].is_object() {
                break;
            }
            response = self.response(tool, arguments);
        }
        assert!(response.get("error").is_none(), "{tool} {arguments}: {response}");
        response["result"].clone()
    }

    /// The path of the first hit, if there is one.
    pub fn finds(&mut self, text: &str) -> Option<String> {
        let answer = self.call("query", &serde_json::json!({ "text": text, "mode": "literal" }));
        answer["results"][0]["file_path"].as_str().map(str::to_owned)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
