//! Snapshots: an index as one file that the index of a clone starts from.
//!
//! Owns the format: a line that names it, a header line of JSON, and the compressed database. A loaded snapshot is checked and
//! then brought up to date by hash: only files whose bytes differ are extracted.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use super::rebuild;
use super::rounds::Report;
use crate::budget::{Budget, Progress};
use crate::config::Sources;
use crate::error::{Error, ErrorKind, Result};
use crate::model::RepoPath;
use crate::repository::{Repository, folder};
use crate::scan;
use crate::secrets;
use crate::store::{Mode, Store, schema_version};
use crate::wording::Command;

const MAGIC: &str = "ixmcp snapshot 1";
/// At least one in this many files of the snapshot is unchanged in a clone.
const SHARED_BY_CLONES: u64 = 4;
/// The header is one line.
const MAX_HEADER: u64 = 4096;

#[derive(Debug, Deserialize, Serialize)]
pub struct Header {
    pub schema: i64,
    pub files: u64,
    /// The size of the database.
    pub bytes: u64,
    pub blake3: String,
    pub release: String,
}

/// Writes the index to `file`. It must be up to date. Secrets and files outside the repository are left out.
pub(crate) fn save(repository: &Repository, file: &Path) -> Result<Header> {
    let copy = repository.database().with_extension("db.copy");
    folder::discard(&copy)?;
    // If secrets are indexed, only the file itself shows whether it is one.
    let has_secrets = !repository.settings().config.index.skip_secrets;
    let may_leave = |path: &RepoPath| {
        let read = || scan::read(&repository.root, path, u64::MAX);
        !has_secrets || read().is_ok_and(|content| !secrets::is_secret(path.as_str(), &content.bytes))
    };
    let admits = |path: &str| !path.starts_with('/') && RepoPath::new(path).is_some_and(|path| may_leave(&path));
    let saved = repository.store()?.copy(&copy, admits).and_then(|()| pack(&copy, file));
    folder::discard(&copy)?;
    saved
}

fn pack(copy: &Path, file: &Path) -> Result<Header> {
    let read = |error| Error::io("read", copy, error);
    let mut hasher = blake3::Hasher::new();
    let bytes = std::io::copy(&mut File::open(copy).map_err(read)?, &mut hasher).map_err(read)?;
    let files = Store::open(copy, Mode::Read)?.read(&Budget::unlimited(), |snapshot| snapshot.file_count())?;
    let header = Header {
        schema: schema_version(),
        files,
        bytes,
        blake3: hasher.finalize().to_hex().to_string(),
        release: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let line = serde_json::to_string(&header)
        .map_err(|error| Error::internal("a header cannot be written as JSON").caused_by(error))?;
    let written = File::create(file).and_then(|target| {
        let mut target = BufWriter::new(target);
        writeln!(target, "{MAGIC}\n{line}")?;
        let mut packer = GzEncoder::new(target, Compression::default());
        std::io::copy(&mut File::open(copy)?, &mut packer)?;
        packer.finish()?.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()
    });
    written.map_err(|error| Error::io("write", file, error))?;
    Ok(header)
}

/// Replaces the index at `root` with a snapshot and brings it up to date. The report counts what differs from it.
pub fn load(root: &Path, sources: Arc<Sources>, file: &Path, progress: &Progress, budget: &Budget) -> Result<Report> {
    let mut reader = BufReader::new(File::open(file).map_err(|error| Error::io("open", file, error))?);
    let header = header(&mut reader, file)?;
    let unpacked = |new: &Path| {
        unpack(reader, &header, new)?;
        Store::check_copy(new)
    };
    let mut report = rebuild::from_seed(root, sources, Some(Box::new(unpacked)), progress, budget)?;
    report.warning = of_another_repository(header.files, report.unchanged);
    Ok(report)
}

/// A clone shares most files with the repository of the snapshot, whatever both have changed since.
fn of_another_repository(files: u64, unchanged: usize) -> Option<String> {
    let same = unchanged as u64;
    (same < files.div_ceil(SHARED_BY_CLONES)).then(|| {
        format!(
            "Of the {files} files in the snapshot {same} are the same here: it seems to be of another repository. The index \
             is correct nevertheless, but the snapshot did not make it faster."
        )
    })
}

fn header(reader: &mut BufReader<File>, file: &Path) -> Result<Header> {
    let no_snapshot = || {
        Error::new(ErrorKind::UnsupportedFormat, format!("{} is not a snapshot of ixmcp", file.display())).hint((
            "Create one with ",
            Command("snapshot save"),
            ".",
        ))
    };
    let mut line = |most: u64| -> Option<String> {
        let mut line = String::new();
        reader.by_ref().take(most).read_line(&mut line).ok()?;
        line.strip_suffix('\n').map(str::to_owned)
    };
    if line(MAX_HEADER).as_deref() != Some(MAGIC) {
        return Err(no_snapshot());
    }
    let header: Header = serde_json::from_str(&line(MAX_HEADER).ok_or_else(no_snapshot)?).map_err(|_| no_snapshot())?;
    let known = schema_version();
    if header.schema > known {
        return Err(Error::new(
            ErrorKind::NewerIndex,
            format!("the snapshot has schema {}, this ixmcp knows up to {known}", header.schema),
        )
        .hint("Use the newer ixmcp."));
    }
    if header.schema < known {
        return Err(Error::new(
            ErrorKind::UnsupportedFormat,
            format!("the snapshot has schema {}, this ixmcp creates {known}", header.schema),
        )
        .hint(("Create it with this release, or build the index with ", Command("sync"), ".")));
    }
    Ok(header)
}

/// Writes at most as many bytes as the header says, whatever the file unpacks to.
fn unpack(reader: impl Read, header: &Header, new: &Path) -> Result<()> {
    let damaged =
        || {
            Error::new(ErrorKind::CorruptIndex, "the snapshot is damaged: its content does not match its header")
                .hint(("Copy it again, or build the index with ", Command("sync"), "."))
        };
    let mut target = File::create(new).map_err(|error| Error::io("write", new, error))?;
    let mut unpacker = GzDecoder::new(reader).take(header.bytes.saturating_add(1));
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    let mut bytes = 0;
    loop {
        let count = unpacker.read(&mut buffer).map_err(|_| damaged())?;
        if count == 0 {
            break;
        }
        bytes += count as u64;
        hasher.update(&buffer[..count]);
        target.write_all(&buffer[..count]).map_err(|error| Error::io("write", new, error))?;
    }
    if bytes != header.bytes || hasher.finalize().to_hex().as_str() != header.blake3 {
        drop(target);
        // The error below matters more.
        let _ = fs::remove_file(new);
        return Err(damaged());
    }
    Ok(())
}
