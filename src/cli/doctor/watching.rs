//! Whether the system offers enough file watches for the folders of the repository.

use std::collections::HashSet;

use super::{DoctorContext, Finding, Level};
use crate::error::Result;
use crate::platform::files;

const WATCHES: &str = "/proc/sys/fs/inotify/max_user_watches";
const INSTANCES: &str = "/proc/sys/fs/inotify/max_user_instances";
/// Editors and other daemons watch, too.
const FEW_INSTANCES: u64 = 64;

pub(super) fn look(context: &DoctorContext) -> Result<Vec<Finding>> {
    if !files::reports_all_changes(&context.root) {
        let message = "the file system does not report changes that other machines make: every read looks at all files";
        let remedy = "Nothing to do. Reads are faster on a local disk.";
        return Ok(vec![Finding::new(Level::Note, message).remedy(remedy)]);
    }
    let limit = |file: &str| std::fs::read_to_string(file).ok().and_then(|text| text.trim().parse::<u64>().ok());
    let Some(watches) = limit(WATCHES) else {
        return Ok(vec![Finding::new(Level::Ok, "this system does not limit file watches")]);
    };
    let folders = context.ask(|snapshot| {
        let mut folders: HashSet<String> = HashSet::new();
        for (path, _) in snapshot.paths(None)? {
            // Every folder above a file has its own watch.
            folders.extend(path.match_indices('/').map(|(at, _)| path[..at].to_owned()));
        }
        Ok(folders.len() as u64 + 1)
    });
    let folders = folders.unwrap_or(1);
    let mut findings = Vec::new();
    // The other half is for other programs.
    if folders > watches / 2 {
        let message = format!("{folders} folders need one watch each, but the system allows {watches}");
        let remedy = format!(
            "Run `sudo sysctl fs.inotify.max_user_watches={}`; until then, reads may have to check all files.",
            (4 * folders).next_power_of_two()
        );
        findings.push(Finding::new(Level::Warning, message).remedy(remedy));
    }
    if let Some(instances) = limit(INSTANCES).filter(|instances| *instances < FEW_INSTANCES) {
        let message = format!("the system allows {instances} inotify instances per user");
        findings
            .push(Finding::new(Level::Note, message).remedy("Run `sudo sysctl fs.inotify.max_user_instances=512`."));
    }
    if findings.is_empty() {
        findings.push(Finding::new(Level::Ok, format!("watches: {folders} needed, {watches} available")));
    }
    Ok(findings)
}
