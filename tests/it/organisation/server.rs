//! One PostgreSQL server for all tests of this process, on a socket in a temporary folder, with a database for each test.
//!
//! The server refuses to run as root, so it then runs as a user without rights. A guardian stops it and removes its
//! folder when this process ends, however that happens: it waits for the end of a pipe.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::Repo;

/// A machine under load takes long to start a server.
const START: Duration = Duration::from_secs(120);
const UNPRIVILEGED: u32 = 65534;

/// Where the programs of the newest server are.
fn programs() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
        folders.retain(|folder| folder.join("initdb").is_file());
        folders.sort();
        folders.pop().expect("PostgreSQL is not installed: run .ci/setup")
    })
}

fn command(program: &str) -> Command {
    let mut command = Command::new(programs().join(program));
    command.current_dir("/tmp").stdin(Stdio::null());
    // Not what the person's shell says of servers.
    for (variable, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PG")) {
        command.env_remove(variable);
    }
    command
}

/// Starts a program as a user that the server accepts.
fn unprivileged(program: &str) -> Command {
    let mut command = command(program);
    if rustix::process::getuid().is_root() {
        command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
    }
    command
}

fn done(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A server in a folder.
pub struct Postgres {
    pub folder: PathBuf,
    /// MiB of a disk of its own at `small`, which only its processes see.
    small_disk: Option<u32>,
    process: Option<Child>,
    /// Ends with this.
    _guardian: Child,
}

impl Postgres {
    pub fn start() -> Self {
        Self::with_disk(None)
    }

    /// A server with a small disk at `small`; `None` unless this is root.
    pub fn with_small_disk(megabytes: u32) -> Option<Self> {
        rustix::process::getuid().is_root().then(|| Self::with_disk(Some(megabytes)))
    }

    fn with_disk(small_disk: Option<u32>) -> Self {
        let folder = tempfile::Builder::new().prefix("ixmcp-pg").tempdir_in("/tmp").unwrap().keep();
        if rustix::process::getuid().is_root() {
            std::os::unix::fs::chown(&folder, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
        }
        let data = folder.join("data");
        let settings = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "-D"];
        done(unprivileged("initdb").args(settings).arg(&data).output().unwrap());
        let guard = "cat; [ -f \"$1/data/postmaster.pid\" ] && kill -QUIT \"$(head -n 1 \"$1/data/postmaster.pid\")\"; rm -rf \"$1\"";
        let mut guardian = Command::new("sh");
        guardian.args(["-c", guard, "sh"]).arg(&folder).current_dir("/");
        guardian.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let mut server = Self { folder, small_disk, process: None, _guardian: guardian.spawn().unwrap() };
        server.run();
        server
    }

    /// A file on the small disk.
    pub fn on_small_disk(&self, name: &str) -> PathBuf {
        let process = self.process.as_ref().map(Child::id).unwrap();
        let folder = self.folder.strip_prefix("/").unwrap();
        Path::new("/proc").join(process.to_string()).join("root").join(folder).join("small").join(name)
    }

    /// Starts the server, and waits until it answers.
    pub fn run(&mut self) {
        let mut process = match self.small_disk {
            None => unprivileged("postgres"),
            Some(megabytes) => {
                let small = self.folder.join("small");
                fs::create_dir_all(&small).unwrap();
                let mount = "mount -t tmpfs -o \"size=$1m,mode=0700,uid=$3,gid=$3\" none \"$2\" && exec setpriv --reuid=$3 --regid=$3 --clear-groups \"$4\" \"${@:5}\"";
                let mut process = Command::new("unshare");
                process.args(["-m", "bash", "-c", mount, "bash", &megabytes.to_string()]).arg(&small);
                process.arg(UNPRIVILEGED.to_string()).arg(programs().join("postgres")).current_dir("/tmp");
                process
            }
        };
        process.arg("-D").arg(self.folder.join("data")).arg("-k").arg(&self.folder);
        process.args([
            "-c",
            "listen_addresses=",
            "-c",
            "fsync=off",
            "-c",
            "shared_buffers=32MB",
            "-c",
            "max_connections=60",
        ]);
        process.args(["-c", "unix_socket_permissions=0777"]);
        let log = fs::File::create(self.folder.join("log")).unwrap();
        let mut process = process.stdout(Stdio::null()).stderr(log).process_group(0).spawn().unwrap();
        let started = Instant::now();
        while !self.psql("postgres", "postgres").args(["-c", "SELECT 1"]).output().unwrap().status.success() {
            let log = || fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            assert!(process.try_wait().unwrap().is_none(), "the server has ended: {}", log());
            assert!(started.elapsed() < START, "the server does not answer: {}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
        self.process = Some(process);
    }

    /// Kills the server as a crash would.
    pub fn kill(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        rustix::process::kill_process(rustix::process::Pid::from_child(&process), rustix::process::Signal::QUIT)
            .unwrap();
        process.wait().unwrap();
    }

    /// Runs a script as the administrator; returns its output.
    pub fn script(&self, database: &str, arguments: &[&str]) -> String {
        done(self.psql("postgres", database).args(arguments).output().unwrap())
    }

    fn psql(&self, role: &str, database: &str) -> Command {
        let mut psql = command("psql");
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", role, "-d", database, "-h"])
            .arg(&self.folder);
        psql
    }
}

pub fn shared() -> &'static Postgres {
    static SERVER: OnceLock<Postgres> = OnceLock::new();
    SERVER.get_or_init(Postgres::start)
}

/// An organisation: a database with the schema.
pub struct Organisation {
    folder: PathBuf,
    database: String,
    /// Roles belong to all databases of the server: each has its own.
    number: usize,
    admin: Repo,
}

impl Organisation {
    pub fn new() -> Self {
        Self::on(shared())
    }

    pub fn on(server: &Postgres) -> Self {
        let organisation = Self::without_schema(server);
        organisation.admin(&["org", "init"]);
        organisation
    }

    pub fn without_schema(server: &Postgres) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let database = format!("organisation_{number}");
        let mut make = format!("CREATE DATABASE {database} TEMPLATE template0");
        if server.small_disk.is_some() {
            let tablespace = format!("CREATE TABLESPACE small LOCATION '{}'", server.folder.join("small").display());
            server.script("postgres", &["-c", &tablespace]);
            make += " TABLESPACE small";
        }
        server.script("postgres", &["-c", &make]);
        Self { folder: server.folder.clone(), database, number, admin: Repo::new("") }
    }

    /// The address over TCP, through a listener of this process.
    pub fn url_through(&self, role: &str, port: u16) -> String {
        format!("postgresql://{role}@127.0.0.1:{port}/{}?sslmode=disable", self.database)
    }

    /// The socket of the server.
    pub fn socket(&self) -> PathBuf {
        self.folder.join(".s.PGSQL.5432")
    }

    pub fn url(&self, role: &str) -> String {
        let folder = self.folder.to_str().unwrap().replace('/', "%2F");
        format!("postgresql://{role}@/{}?host={folder}", self.database)
    }

    /// The program as a role runs it in a repository, not started yet.
    pub fn command(&self, repo: &Repo, role: &str, arguments: &[&str]) -> Command {
        let mut command = repo.command(arguments);
        command.env("IXMCP_ORG_URL", self.url(role));
        command
    }

    pub fn ok(&self, repo: &Repo, role: &str, arguments: &[&str]) -> String {
        let output = self.command(repo, role, arguments).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?} ended with {}: {stderr}", output.status);
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn json(&self, repo: &Repo, role: &str, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.ok(repo, role, &[arguments, &["--json"]].concat())).unwrap()
    }

    /// stderr of a run that must end with an error.
    pub fn fails(&self, repo: &Repo, role: &str, arguments: &[&str]) -> String {
        let output = self.command(repo, role, arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stderr).unwrap()
    }

    pub fn admin(&self, arguments: &[&str]) -> String {
        self.ok(&self.admin, "postgres", arguments)
    }

    /// A role of this organisation that was granted a pattern.
    pub fn role(&self, name: &str, pattern: &str, more: &[&str]) -> String {
        let role = self.ungranted_role(name);
        self.admin(&[&["org", "grant", &role, pattern][..], more].concat());
        role
    }

    pub fn ungranted_role(&self, name: &str) -> String {
        let role = format!("{name}_{}", self.number);
        self.sql(&format!("CREATE ROLE {role} LOGIN"));
        role
    }

    /// Runs a statement as the administrator; returns its output: fields by `|`.
    pub fn sql(&self, statement: &str) -> String {
        self.sql_as("postgres", statement).unwrap()
    }

    /// Runs a script as the administrator; returns its output.
    pub fn script(&self, arguments: &[&str]) -> String {
        let mut psql = command("psql");
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-d", &self.database, "-h"])
            .arg(&self.folder);
        done(psql.args(arguments).output().unwrap())
    }

    /// Runs a statement as a role; returns its output or the error.
    pub fn sql_as(&self, role: &str, statement: &str) -> Result<String, String> {
        let mut psql = command("psql");
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", role, "-d", &self.database, "-h"])
            .arg(&self.folder);
        let output = psql.args(["-c", statement]).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }

    /// Names of the repositories that a role sees.
    pub fn seen_by(&self, role: &str) -> Vec<String> {
        let listed = self.json(&self.admin, role, &["org", "status"]);
        let names =
            listed["repositories"].as_array().unwrap().iter().map(|one| one["repo"].as_str().unwrap().to_owned());
        names.collect()
    }
}
