//! Certificates as the recipes of PostgreSQL's manual make them, judged as `psql` judges them with `verify-full`.

use std::path::Path;
use std::process::Command;

use expect_test::expect;

use crate::organisation::server::{Organisation, Postgres, connects};
use crate::support::harness::Repo;

pub fn openssl(folder: &Path, arguments: &str) {
    let output = Command::new("openssl").args(arguments.split(' ')).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "openssl {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Makes certificates in the folder of a server: one that is its own authority, and one of an authority without extensions.
fn make(folder: &Path) {
    openssl(folder, "req -new -x509 -days 365 -nodes -out own.crt -keyout own.key -subj /CN=localhost");
    openssl(folder, "req -new -nodes -out root.csr -keyout root.key -subj /CN=root");
    std::fs::write(folder.join("v3_ca"), "basicConstraints=critical,CA:true\n").unwrap();
    openssl(folder, "x509 -req -in root.csr -days 3650 -extfile v3_ca -signkey root.key -out root.crt");
    openssl(folder, "req -new -nodes -out server.csr -keyout server.key -subj /CN=localhost");
    openssl(folder, "x509 -req -in server.csr -days 365 -CA root.crt -CAkey root.key -CAcreateserial -out server.crt");
    std::fs::write(folder.join("names"), "subjectAltName=DNS:localhost\n").unwrap();
    openssl(
        folder,
        "x509 -req -in server.csr -days 365 -CA root.crt -CAkey root.key -CAcreateserial -extfile names -out named.crt",
    );
    std::fs::copy(folder.join("server.key"), folder.join("named.key")).unwrap();
    openssl(folder, "req -new -x509 -days 365 -nodes -out other.crt -keyout other.key -subj /CN=db.example.com");
    for key in ["own.key", "server.key", "named.key", "other.key"] {
        std::fs::set_permissions(folder.join(key), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    }
}

#[test]
fn certificates_are_accepted_as_by_other_clients_where_they_are_named() {
    let mut server = Postgres::start();
    make(&server.folder);
    let organisation = Organisation::on(&server);
    let team = organisation.role("team", "*", &[]);
    let repo = Repo::new("");
    let folder = server.folder.clone();
    let file = |name: &str| folder.join(name).display().to_string();
    // The authority of a certificate and itself.
    let both = [file("root.crt"), file("server.crt")].map(|file| std::fs::read_to_string(file).unwrap()).concat();
    std::fs::write(folder.join("both.crt"), both).unwrap();
    for (certificate, host, roots, as_psql, expected) in [
        ("own", "localhost", "own.crt", true, None),
        ("own", "127.0.0.1", "own.crt", true, Some("it is for another host")),
        ("own", "localhost", "root.crt", true, Some("")),
        ("other", "localhost", "other.crt", true, Some("it is for another host")),
        ("named", "localhost", "root.crt", true, None),
        ("named", "127.0.0.1", "root.crt", true, Some("it is for another host")),
        ("server", "localhost", "both.crt", true, None),
        // psql accepts this one: its authority is known, and its host is in the common name alone.
        ("server", "localhost", "root.crt", false, Some("")),
    ] {
        let port = server.encrypt(&format!("{certificate}.crt"), &format!("{certificate}.key"), &[]);
        let base = format!("postgresql://{team}@{host}:{port}/{}?sslrootcert={}", organisation.database, file(roots));
        if as_psql {
            assert_eq!(
                connects(&format!("{base}&sslmode=verify-full")),
                expected.is_none(),
                "{certificate} {host} {roots}"
            );
        }
        let run = |url: &str| repo.command(&["org", "status"]).env("IXMCP_ORG_URL", url).output().unwrap();
        let output = run(&base);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        match expected {
            None => {
                assert!(output.status.code() != Some(2), "{certificate} {host} {roots}: {error}");
                // Servers from 17 on speak TLS at once.
                if server.version() >= 17 {
                    let output = run(&format!("{base}&sslnegotiation=direct"));
                    assert!(output.status.code() != Some(2), "{}", String::from_utf8_lossy(&output.stderr));
                }
                let output = run(&format!("{base}&ssl_min_protocol_version=TLSv1.3"));
                assert!(output.status.code() != Some(2), "{}", String::from_utf8_lossy(&output.stderr));
            }
            Some(why) => {
                let refused =
                    format!("INVALID_ARGUMENT: the certificate of the organisation's server is refused: {why}");
                assert!(
                    error.contains(&refused) && error.contains("sslrootcert=FILE"),
                    "{certificate} {host} {roots}: {error}"
                );
            }
        }
        // No public authority knows them. Those of the system are in a file of another name in each.
        for more in ["", "sslrootcert=system"] {
            let url = format!("postgresql://{team}@localhost:{port}/{}?{more}", organisation.database);
            let error = String::from_utf8(run(&url).stderr).unwrap();
            let is_known = more.is_empty() || Path::new("/etc/ssl/certs/ca-certificates.crt").exists();
            assert!(error.contains("is refused: ") || !is_known, "{certificate}: {error}");
        }
    }
}

#[test]
fn a_client_shows_its_own_certificate_to_servers_that_want_one() {
    let mut server = Postgres::start();
    make(&server.folder);
    let organisation = Organisation::on(&server);
    let team = organisation.role("team", "*", &[]);
    let folder = server.folder.clone();
    openssl(&folder, &format!("req -new -nodes -out team.csr -keyout team.key -subj /CN={team}"));
    openssl(
        &folder,
        "x509 -req -in team.csr -days 365 -CA root.crt -CAkey root.key -CAcreateserial -extfile names -out team.crt",
    );
    std::fs::write(folder.join("data/pg_hba.conf"), "local all all trust\nhostssl all all all cert\n").unwrap();
    let authority = format!("ssl_ca_file={}", folder.join("root.crt").display());
    let port = server.encrypt("named.crt", "named.key", &[&authority]);
    let file = |name: &str| folder.join(name).display().to_string();
    let base =
        format!("postgresql://{team}@localhost:{port}/{}?sslrootcert={}", organisation.database, file("root.crt"));
    let repo = Repo::new("");
    let run = |url: &str| repo.command(&["org", "status"]).env("IXMCP_ORG_URL", url).output().unwrap();
    let with = format!("{base}&sslcert={}&sslkey={}", file("team.crt"), file("team.key"));
    assert_ne!(run(&with).status.code(), Some(2), "{}", String::from_utf8_lossy(&run(&with).stderr));
    let refused = [
        base.clone(),
        format!("{with}&sslcertmode=disable"),
        format!("{base}&sslcert={}", file("team.crt")),
        format!("{base}&sslcert={}&sslkey={}", file("team.crt"), file("own.key")),
    ]
    .map(|url| String::from_utf8(run(&url).stderr).unwrap())
    .concat();
    expect![[r#"
        ixmcp: UNREACHABLE: the organisation's server refuses the login: connection requires a valid client certificate. Check the role, the database and the password of its address.
        ixmcp: UNREACHABLE: the organisation's server refuses the login: connection requires a valid client certificate. Check the role, the database and the password of its address.
        ixmcp: INVALID_ARGUMENT: the address of the organisation "default": sslcert and sslkey need each other. Give both, or none.
        ixmcp: INVALID_ARGUMENT: sslkey: FOLDER/own.key is not the key of sslcert. Name a readable file in PEM format, without a password.
    "#]].assert_eq(&refused.replace(folder.to_str().unwrap(), "FOLDER").replace(&team, "TEAM"));
}
