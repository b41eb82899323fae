//! One PostgreSQL server for all tests of this process, on a socket in a temporary folder, with a database for each test.
//!
//! The server refuses to run as root, so it then runs as a user without rights. A guardian stops it and removes its
//! folder when this process ends, however that happens: it waits for the end of a pipe.
//!
//! `.ci/soak organisation` runs the same tests on servers as administrators have them:
//!
//! - `IXMCP_TEST_POSTGRES` is the folder with the programs of another version,
//! - `IXMCP_TEST_POSTGRES_LOCALE` what `CREATE DATABASE` says of the locale,
//! - `IXMCP_TEST_POSTGRES_ADMINISTRATOR=managed` an administrator that is not a superuser, as managed servers have,
//! - `IXMCP_TEST_POSTGRES_POOLER=session` or `transaction` a `PgBouncer` between clients and the server, in this mode.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::support::harness::Repo;
use crate::support::waiting::until;

const UNPRIVILEGED: u32 = 65534;

/// The port of a pooler, which names its socket.
const POOLER_PORT: u16 = 6432;
/// The administrator of a managed server.
const MANAGER: &str = "manager";

fn setting(name: &str) -> Option<String> {
    std::env::var(format!("IXMCP_TEST_POSTGRES{name}")).ok().filter(|value| !value.is_empty())
}

/// Where the programs of the newest server are that is installed.
fn installed() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
        folders.retain(|folder| folder.join("initdb").is_file());
        folders.sort();
        folders.pop().expect("PostgreSQL is not installed: run .ci/setup")
    })
}

/// A program of the server, or `psql`, which other versions may lack.
fn command(program: &str) -> Command {
    let other = setting("").map(|folder| Path::new(&folder).join(program)).filter(|program| program.is_file());
    let mut command = Command::new(other.unwrap_or_else(|| installed().join(program)));
    command.current_dir("/tmp").stdin(Stdio::null());
    // Not what the person's shell says of servers.
    for (variable, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PG")) {
        command.env_remove(variable);
    }
    command
}

/// Starts a program as a user that the server accepts.
fn unprivileged(program: &str) -> Command {
    as_unprivileged(command(program))
}

fn as_unprivileged(mut command: Command) -> Command {
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
    /// Settings for its command line.
    settings: Vec<String>,
    /// The socket's folder and port that clients connect to.
    way: Way,
    /// Ends with this.
    _guardian: Child,
}

/// How clients reach a server.
#[derive(Clone)]
struct Way {
    folder: PathBuf,
    port: u16,
}

/// A pooler before a server. It ends with this.
pub struct Pooler {
    process: Child,
    way: Way,
}

impl Pooler {
    /// The end of its log, if it has ended.
    pub fn ended(&mut self) -> Option<String> {
        let log = || fs::read_to_string(self.way.folder.join("log")).unwrap_or_default();
        self.process.try_wait().unwrap().map(|_| log().lines().rev().take(4).collect::<Vec<_>>().join("\n"))
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.way.folder);
    }
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
        let mut server = Self::empty(small_disk);
        let data = server.folder.join("data");
        let settings = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "-D"];
        done(unprivileged("initdb").args(settings).arg(&data).output().unwrap());
        server.run();
        if is_managed() {
            server.script("postgres", &["-c", &format!("CREATE ROLE {MANAGER} LOGIN CREATEROLE")]);
        }
        if let Some(mode) = setting("_POOLER") {
            let pooler = server.pooler(&mode);
            server.way = pooler.way.clone();
            // It ends with the server's guardian, which removes its file.
            std::mem::forget(pooler);
        }
        server
    }

    /// A folder for a server, and what removes it.
    fn empty(small_disk: Option<u32>) -> Self {
        let folder = tempfile::Builder::new().prefix("ixmcp-pg").tempdir_in("/tmp").unwrap().keep();
        own(&folder);
        // PgBouncer 1.18 does not handle SIGQUIT, which the jobs of a shell in the background ignore.
        let guard = "cat; end() { [ -f \"$2\" ] && kill \"$1\" \"$(head -n 1 \"$2\")\"; }; for pooler in \"$1\"/pooler*/pid; do end -KILL \"$pooler\"; done; end -QUIT \"$1/data/postmaster.pid\"; rm -rf \"$1\"";
        let mut guardian = Command::new("sh");
        guardian.args(["-c", guard, "sh"]).arg(&folder).current_dir("/");
        guardian.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let way = Way { folder: folder.clone(), port: 5432 };
        Self { folder, small_disk, process: None, settings: Vec::new(), way, _guardian: guardian.spawn().unwrap() }
    }

    /// A standby of this server, which follows it.
    pub fn standby(&self) -> Self {
        let mut standby = Self::empty(None);
        let (from, to) = (self.folder.join("data"), standby.folder.join("data"));
        let script = format!(
            "SELECT pg_backup_start('copy', true) IS NOT NULL;\n\\! cp -a {} {}\n\\o {}\nSELECT labelfile FROM pg_backup_stop(false);\n",
            from.display(),
            to.display(),
            to.join("backup_label").display()
        );
        let file = standby.folder.join("copy.sql");
        fs::write(&file, script).unwrap();
        self.script("postgres", &["-f", file.to_str().unwrap()]);
        let _ = fs::remove_file(to.join("postmaster.pid"));
        fs::write(to.join("standby.signal"), "").unwrap();
        let conninfo = format!("\nprimary_conninfo = 'host={} user=postgres'\n", self.folder.display());
        let settings = to.join("postgresql.auto.conf");
        let settings_text = fs::read_to_string(&settings).unwrap() + &conninfo;
        fs::write(&settings, settings_text).unwrap();
        for made in ["backup_label", "standby.signal"] {
            own(&to.join(made));
        }
        standby.run();
        standby
    }

    /// Waits until a standby has what this server has.
    pub fn wait_for(&self, standby: &Self) {
        let at = self.script("postgres", &["-c", "SELECT pg_current_wal_lsn()"]);
        let reached = format!("SELECT pg_last_wal_replay_lsn() >= '{}'", at.trim());
        until("the standby follows", || standby.script("postgres", &["-c", &reached]).trim() == "t");
    }

    /// A `PgBouncer` that gives its clients two sessions of each role in each database.
    pub fn pooler(&self, mode: &str) -> Pooler {
        self.pooler_at(POOLER_PORT, mode, "")
    }

    /// A `PgBouncer` that also listens on a port of this machine, with its own certificate in the folder of the server.
    pub fn pooler_over_tcp(&self, mode: &str, name: &str) -> (Pooler, u16) {
        let port = free_port();
        let file = |ending: &str| self.folder.join(format!("{name}.{ending}")).display().to_string();
        let (certificate, key) = (file("crt"), file("key"));
        for file in [&certificate, &key] {
            own(Path::new(file));
        }
        let more = format!(
            "listen_addr = 127.0.0.1\nclient_tls_sslmode = allow\nclient_tls_cert_file = {certificate}\nclient_tls_key_file = {key}\n"
        );
        (self.pooler_at(port, mode, &more), port)
    }

    fn pooler_at(&self, port: u16, mode: &str, more: &str) -> Pooler {
        let folder = tempfile::Builder::new().prefix("pooler").tempdir_in(&self.folder).unwrap().keep();
        own(&folder);
        let settings = format!(
            "[databases]\n* = host={}\n[pgbouncer]\nlisten_addr =\nunix_socket_dir = {folder}\nunix_socket_mode = 0777\nlisten_port = {port}\n\
             auth_type = trust\nauth_user = postgres\nauth_file = {folder}/users\nauth_query = SELECT rolname, '' FROM pg_roles WHERE rolname = $1\n\
             pool_mode = {mode}\ndefault_pool_size = {}\nmax_client_conn = 500\nserver_login_retry = 1\nserver_idle_timeout = 1\nquery_wait_timeout = 20\npidfile = {folder}/pid\nlogfile = {folder}/log\n{more}",
            self.folder.display(),
            if mode == "session" { 20 } else { 2 },
            folder = folder.display(),
        );
        fs::write(folder.join("settings"), settings).unwrap();
        fs::write(folder.join("users"), "\"postgres\" \"\"\n").unwrap();
        let mut command = as_unprivileged(Command::new("/usr/sbin/pgbouncer"));
        command.arg(folder.join("settings")).current_dir("/tmp").process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().expect("PgBouncer is not installed: run .ci/setup");
        let way = Way { folder, port };
        until("the pooler answers", || way.socket().exists());
        Pooler { process, way }
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
                process.arg(UNPRIVILEGED.to_string()).arg(command("postgres").get_program()).current_dir("/tmp");
                process
            }
        };
        process.arg("-D").arg(self.folder.join("data")).arg("-k").arg(&self.folder);
        process.args(["-c", "fsync=off", "-c", "shared_buffers=32MB", "-c", "max_connections=200"]);
        process.args(["-c", "unix_socket_permissions=0777"]);
        if self.settings.is_empty() {
            process.args(["-c", "listen_addresses="]);
        }
        for setting in &self.settings {
            process.args(["-c", setting]);
        }
        let log = fs::File::create(self.folder.join("log")).unwrap();
        let mut process = process.stdout(Stdio::null()).stderr(log).process_group(0).spawn().unwrap();
        until("the server answers", || {
            let log = || fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            assert!(process.try_wait().unwrap().is_none(), "the server has ended: {}", log());
            self.psql("postgres", "postgres").args(["-c", "SELECT 1"]).output().unwrap().status.success()
        });
        self.process = Some(process);
    }

    /// Restarts the server with TLS over TCP, with files of its folder. Returns the port.
    pub fn encrypt(&mut self, certificate: &str, key: &str, more: &[&str]) -> u16 {
        let port = free_port();
        self.kill();
        let file = |name: &str| self.folder.join(name).display().to_string();
        for name in [certificate, key] {
            own(&self.folder.join(name));
        }
        // The socket keeps its name by a port of its own.
        self.settings = vec![
            "ssl=on".to_owned(),
            "listen_addresses=127.0.0.1".to_owned(),
            format!("ssl_cert_file={}", file(certificate)),
            format!("ssl_key_file={}", file(key)),
            format!("port={port}"),
        ];
        self.settings.extend(more.iter().map(|one| (*one).to_owned()));
        if self.way.folder == self.folder {
            self.way.port = port;
        }
        self.run();
        port
    }

    /// The number of its version, such as 15.
    pub fn version(&self) -> u32 {
        let number = self.script("postgres", &["-c", "SHOW server_version_num"]);
        number.trim().parse::<u32>().unwrap() / 10_000
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
        psql(&Way { folder: self.folder.clone(), port: self.port() }, role, database)
    }

    fn port(&self) -> u16 {
        let own = self.settings.iter().find_map(|setting| setting.strip_prefix("port="));
        own.map_or(5432, |port| port.parse().unwrap())
    }
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn psql(way: &Way, role: &str, database: &str) -> Command {
    let mut psql = command("psql");
    psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", role, "-d", database, "-h"]).arg(&way.folder);
    psql.arg("-p").arg(way.port.to_string());
    psql
}

/// Whether PostgreSQL's own client connects to an address.
pub fn connects(address: &str) -> bool {
    command("psql").args(["-X", "-c", "SELECT 1", address]).output().unwrap().status.success()
}

impl Way {
    fn socket(&self) -> PathBuf {
        self.folder.join(format!(".s.PGSQL.{}", self.port))
    }
}

/// Makes a file or folder that of the user that runs servers.
fn own(path: &Path) {
    if rustix::process::getuid().is_root() {
        std::os::unix::fs::chown(path, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
    }
}

/// Whether the administrator is not a superuser.
pub fn is_managed() -> bool {
    setting("_ADMINISTRATOR").is_some_and(|kind| kind == "managed")
}

pub fn shared() -> &'static Postgres {
    static SERVER: OnceLock<Postgres> = OnceLock::new();
    SERVER.get_or_init(Postgres::start)
}

/// An organisation: a database with the schema.
pub struct Organisation {
    /// The way of the tests to the server.
    server: Way,
    /// The way of clients.
    way: Way,
    pub database: String,
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
        let locale = setting("_LOCALE").unwrap_or_else(|| "LOCALE 'C'".to_owned());
        Self::with_locale(server, &format!("ENCODING UTF8 {locale}"))
    }

    /// One whose database was made with that encoding and locale.
    pub fn with_locale(server: &Postgres, locale: &str) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let database = format!("organisation_{number}");
        let mut make = format!("CREATE DATABASE {database} TEMPLATE template0 {locale}");
        if is_managed() {
            make += &format!(" OWNER {MANAGER}");
        }
        if server.small_disk.is_some() {
            let tablespace = format!("CREATE TABLESPACE small LOCATION '{}'", server.folder.join("small").display());
            server.script("postgres", &["-c", &tablespace]);
            make += " TABLESPACE small";
        }
        server.script("postgres", &["-c", &make]);
        let direct = Way { folder: server.folder.clone(), port: server.port() };
        Self { server: direct, way: server.way.clone(), database, number, admin: Repo::new("") }
    }

    /// The role that administrates it.
    pub fn administrator(&self) -> &'static str {
        if is_managed() { MANAGER } else { "postgres" }
    }

    /// Lets clients go through a pooler.
    pub fn through(&mut self, pooler: &Pooler) {
        self.way = pooler.way.clone();
    }

    /// The address over TCP, through a listener of this process.
    pub fn url_through(&self, role: &str, port: u16) -> String {
        format!("postgresql://{role}@127.0.0.1:{port}/{}?sslmode=disable", self.database)
    }

    /// The socket of the server.
    pub fn socket(&self) -> PathBuf {
        self.way.socket()
    }

    pub fn url(&self, role: &str) -> String {
        let folder = self.way.folder.to_str().unwrap().replace('/', "%2F");
        format!("postgresql://{role}@/{}?host={folder}&port={}", self.database, self.way.port)
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
        self.ok(&self.admin, self.administrator(), arguments)
    }

    /// A role of this organisation that was granted a pattern.
    pub fn role(&self, name: &str, pattern: &str, more: &[&str]) -> String {
        let role = self.ungranted_role(name);
        self.admin(&[&["org", "grant", &role, pattern][..], more].concat());
        role
    }

    pub fn ungranted_role(&self, name: &str) -> String {
        self.role_that(name, "LOGIN")
    }

    /// A role with other attributes.
    pub fn role_that(&self, name: &str, attributes: &str) -> String {
        let role = format!("{name}_{}", self.number);
        self.sql(&format!("CREATE ROLE {role} {attributes}"));
        role
    }

    /// Whether clients go through a pooler.
    pub fn is_pooled(&self) -> bool {
        self.way.port == POOLER_PORT
    }

    /// The address of several servers, in this order.
    pub fn url_of(&self, role: &str, servers: &[&Postgres], parameters: &str) -> String {
        let folders: Vec<String> =
            servers.iter().map(|server| server.folder.to_str().unwrap().replace('/', "%2F")).collect();
        format!("postgresql://{role}@/{}?host={}{parameters}", self.database, folders.join(","))
    }

    /// Runs a statement as the administrator; returns its output: fields by `|`.
    pub fn sql(&self, statement: &str) -> String {
        self.sql_as("postgres", statement).unwrap()
    }

    /// Runs a script as the administrator; returns its output.
    pub fn script(&self, arguments: &[&str]) -> String {
        done(psql(&self.server, "postgres", &self.database).args(arguments).output().unwrap())
    }

    /// Runs a statement as a role; returns its output or the error.
    pub fn sql_as(&self, role: &str, statement: &str) -> Result<String, String> {
        Self::outcome(psql(&self.server, role, &self.database).args(["-c", statement]))
    }

    /// Runs a statement as a role, in the way that clients take.
    pub fn sql_through(&self, role: &str, statement: &str) -> Result<String, String> {
        Self::outcome(psql(&self.way, role, &self.database).args(["-c", statement]))
    }

    fn outcome(psql: &mut Command) -> Result<String, String> {
        let output = psql.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }

    /// Names of the repositories that a role sees.
    pub fn seen_by(&self, role: &str) -> Vec<String> {
        let output = self.command(&self.admin, role, &["org", "status", "--json"]).output().unwrap();
        // Without a repository it exits with 1.
        assert_ne!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
        let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
        let names =
            listed["repositories"].as_array().unwrap().iter().map(|one| one["repo"].as_str().unwrap().to_owned());
        names.collect()
    }
}
