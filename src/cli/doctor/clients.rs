//! Whether MCP clients that have an entry for this program can start it.

use std::path::Path;

use super::super::setup::clients::{self, CLIENTS, ConfigFolders};
use super::super::setup::{self, Scope};
use super::{DoctorContext, Finding, Level};
use crate::error::Result;

pub(super) fn look(context: &DoctorContext) -> Result<Vec<Finding>> {
    let environment = &context.session.sources.environment;
    let config_files = ConfigFolders::new(&context.root, environment);
    let mut findings = Vec::new();
    for client in CLIENTS {
        let scopes = if client.project.is_some() { &[Scope::Project, Scope::User][..] } else { &[Scope::User] };
        for scope in scopes {
            let Some(file) = setup::file(client, *scope, &config_files) else { continue };
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            let shown = file.display();
            let Some(settings) = setup::value(client, &text) else {
                let message = format!("{}: {shown} cannot be read", client.name);
                findings
                    .push(Finding::new(Level::Warning, message).remedy("Fix it: the client ignores the whole file."));
                continue;
            };
            let entry = &settings[client.servers]["ixmcp"];
            let Some(program) = clients::words(entry).into_iter().next() else { continue };
            let named = Path::new(&program);
            let is_there = if named.is_absolute() { named.is_file() } else { environment.on_path(&program).is_some() };
            findings.push(if is_there && setup::is_ours(entry) {
                Finding::new(Level::Ok, format!("{}: set up in {shown}", client.name))
            } else {
                let message =
                    format!("{}: {shown} starts {program}, which does not exist or is not `ixmcp mcp`", client.name);
                let remedy = format!("Put ixmcp on PATH, or run `ixmcp setup {}`.", client.name);
                Finding::new(Level::Warning, message).remedy(remedy)
            });
        }
    }
    if findings.is_empty() {
        let note = Finding::new(Level::Note, "no MCP client is set up to use ixmcp");
        findings.push(note.remedy("Run `ixmcp setup`."));
    }
    Ok(findings)
}
