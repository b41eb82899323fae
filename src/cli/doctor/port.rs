//! Whether the daemon can listen on the configured TCP port.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, TcpListener};

use super::{DoctorContext, Finding, Level};
use crate::error::Result;
use crate::serve::{TcpStatus, launch};

const TAKEN: &str = "The daemon works without it. Choose another port with the setting daemon.tcp, or turn it off.";

pub(super) fn look(context: &DoctorContext) -> Result<Vec<Finding>> {
    let Some(address) = &context.session.config.daemon.tcp else {
        return Ok(vec![Finding::new(Level::Ok, "off in the settings")]);
    };
    // A separate check reports problems of the daemon.
    let status = launch::status(&context.root, &context.session.sources.environment).ok().flatten();
    if let Some(status) = status {
        return Ok(vec![match status.tcp {
            Some(TcpStatus::Listening(addresses)) if !addresses.is_empty() => {
                Finding::new(Level::Ok, format!("the daemon listens on {}", addresses.join(", ")))
            }
            Some(TcpStatus::Failed(reason)) => Finding::new(Level::Note, reason).remedy(TAKEN),
            _ => Finding::new(Level::Ok, "the daemon listens on no port"),
        }]);
    }
    let host: IpAddr = address.host.parse().unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    Ok(vec![match TcpListener::bind((host, address.port)) {
        Ok(_) => Finding::new(Level::Ok, format!("{address} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            Finding::new(Level::Note, format!("{address} is taken by another program")).remedy(TAKEN)
        }
        Err(error) => Finding::new(Level::Warning, format!("cannot listen on {address}: {error}")).remedy(TAKEN),
    }])
}
