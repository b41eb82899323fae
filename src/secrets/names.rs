//! Classifies files by name and folder.
//!
//! Names that only secrets have are decided here. Names that public files share are left to the content.

use super::settings::Reach;

/// The class of a file name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// A file that exists to hold secrets, or holds them in a form that no rule recognizes.
    Secret,
    /// A list of settings, public ones and secrets alike: a secret unless all values are public.
    Suspect,
    /// A key file: a secret unless it holds only public keys or certificates.
    Key,
    /// A settings file that usually holds secrets: a secret if one of its values is.
    Settings(Reach),
    Open,
}

pub(super) fn judge(path: &str) -> Name {
    let path = path.to_lowercase();
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let name = original(name);
    let parent = folder.rsplit('/').next().unwrap_or_default();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    if NAMES.contains(&name)
        || EXTENSIONS.contains(&extension)
        || LOCATIONS.contains(&(parent, name))
        || FOLDERS.iter().any(|secret| folder.split('/').any(|part| part == *secret))
        || is_private_key(name)
        || is_state_or_account(name)
    {
        Name::Secret
    } else if is_environment_file(name)
        || is_variables_file(name)
        || SUSPECTS.contains(&name)
        || SUSPECT_LOCATIONS.contains(&(parent, name))
    {
        Name::Suspect
    } else if KEY_EXTENSIONS.contains(&extension) {
        Name::Key
    } else {
        reach(folder, name).map_or(Name::Open, Name::Settings)
    }
}

/// The name without the affixes that editors and people add to backup copies.
fn original(name: &str) -> &str {
    let mut name = name;
    for _ in 0..MAX_SUFFIXES {
        let bare = name.strip_prefix(".#").unwrap_or(name);
        let bare = bare.strip_prefix('#').and_then(|bare| bare.strip_suffix('#')).unwrap_or(bare);
        let ending = COPY_ENDINGS.iter().find_map(|ending| bare.strip_suffix(ending));
        let bare = ending.unwrap_or(bare);
        // Editors hide their swap files: `.id_rsa.swp` is of `id_rsa`, `..env.swp` of `.env`.
        let is_swap = ending.is_some() && [".swp", ".swo"].iter().any(|swap| name.ends_with(swap));
        let bare = bare.strip_prefix('.').filter(|_| is_swap).unwrap_or(bare);
        if bare == name || bare.is_empty() {
            break;
        }
        name = bare;
    }
    name
}

/// How many affixes are removed: a backup may have backups.
const MAX_SUFFIXES: usize = 3;

const COPY_ENDINGS: &[&str] = &[
    "~",
    ".bak",
    ".bak1",
    ".bak2",
    ".bkp",
    ".backup",
    ".old",
    ".orig",
    ".original",
    ".save",
    ".saved",
    ".copy",
    ".prev",
    ".tmp",
    ".swp",
    ".swo",
    ".disabled",
    ".1",
    ".2",
    "_bak",
    "_backup",
    "_old",
    "-bak",
    "-backup",
    "-old",
    " copy",
];

/// `.env`, `.env.production`, `.env-prod`, `prod.env`; not `.env.example`, which is documentation.
fn is_environment_file(name: &str) -> bool {
    let named = matches!(name, ".env" | ".envrc" | ".dev.vars")
        || [".env.", ".env-", ".env_", ".envrc.", ".dev.vars."].iter().any(|begin| name.starts_with(begin))
        || name.ends_with(".env");
    named && !is_example(name)
}

/// `id_rsa`, also as `id_rsa.work` or `deploy_id_rsa`, but not `id_rsa.pub`.
fn is_private_key(name: &str) -> bool {
    let is_source = |rest: &str| matches!(rest, "pub" | "md" | "txt" | "py" | "rs" | "go" | "js" | "ts" | "c" | "h");
    SSH_KEYS.iter().any(|key| match name.strip_prefix(key) {
        Some("") => true,
        Some(rest) => rest.strip_prefix('.').is_some_and(|rest| !is_source(rest.rsplit('.').next().unwrap_or(rest))),
        None => name.strip_suffix(key).is_some_and(|before| before.ends_with('_')),
    })
}

/// Terraform's variables that it reads without being asked to.
fn is_variables_file(name: &str) -> bool {
    let is_named = |ending: &&str| {
        name.strip_suffix(*ending).is_some_and(|stem| matches!(stem, "terraform" | "secret" | "secrets"))
            || name.ends_with(&format!(".auto{ending}"))
    };
    [".tfvars", ".tfvars.json"].iter().any(is_named) && !is_example(name)
}

/// Terraform's state, which holds passwords in plain text, and the key files of cloud accounts.
fn is_state_or_account(name: &str) -> bool {
    let state = name.ends_with(".tfstate") || name.contains(".tfstate.");
    let account = ["service-account", "service_account", "serviceaccount", "gcp-key", "gcloud-key"];
    let is_account = name.ends_with(".json") && account.iter().any(|word| name.starts_with(word));
    let is_client = name.starts_with("client_secret") && name.ends_with(".json");
    state || ((is_account || is_client) && !is_example(name))
}

/// For settings files, which of their values count.
fn reach(folder: &str, name: &str) -> Option<Reach> {
    let (stem, extension) = name.trim_start_matches('.').split_once('.').unwrap_or((name.trim_start_matches('.'), ""));
    let is_holder = HOLDERS.contains(&stem);
    // A translation file named after a page holds labels.
    let is_translation = folder.split('/').any(|part| TRANSLATIONS.contains(&part));
    match extension {
        _ if is_example(name) => None,
        _ if name.ends_with(".tfvars") || name.ends_with(".tfvars.json") => Some(Reach::Named),
        "json" | "toml" | "ini" | "cfg" | "conf" | "properties" | "txt" if is_holder => {
            Some(if is_translation { Reach::Named } else { Reach::All })
        }
        // A bare `secrets` is often a script.
        "" if is_holder && (name.starts_with('.') || stem.starts_with('c')) => Some(Reach::All),
        "yml" | "yaml" | "xml" if is_holder => Some(Reach::Named),
        _ => None,
    }
}

fn is_example(name: &str) -> bool {
    name.split(['.', '-', '_']).any(|part| EXAMPLE_WORDS.contains(&part))
}

const EXAMPLE_WORDS: &[&str] =
    &["example", "examples", "sample", "samples", "template", "tmpl", "tpl", "dist", "default", "defaults", "schema"];

const HOLDERS: &[&str] = &["credentials", "credential", "secrets", "secret", "creds"];

const TRANSLATIONS: &[&str] =
    &["locales", "locale", "i18n", "l10n", "lang", "langs", "languages", "translations", "messages", "intl"];

const SSH_KEYS: &[&str] = &["id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk"];

/// Settings of programs, in which a login may be.
const SUSPECTS: &[&str] = &[".npmrc", ".pypirc", ".my.cnf", ".terraformrc", "terraform.rc"];

const SUSPECT_LOCATIONS: &[(&str, &str)] = &[(".aws", "config")];

const NAMES: &[&str] = &[
    ".netrc",
    "_netrc",
    ".htpasswd",
    ".pgpass",
    "pgpass.conf",
    ".mylogin.cnf",
    ".git-credentials",
    ".dockercfg",
    ".dockerconfigjson",
    ".s3cfg",
    ".boto",
    ".databrickscfg",
    ".vault-token",
    ".vault_pass",
    ".vault_password",
    "credentials.tfrc.json",
    "application_default_credentials.json",
    "master.key",
    "secrets.yml.key",
    "kubeconfig",
    ".kubeconfig",
    "rclone.conf",
    // Command histories, which contain typed passwords.
    ".bash_history",
    ".zsh_history",
    ".zhistory",
    ".sh_history",
    ".ksh_history",
    ".ash_history",
    ".histfile",
    "fish_history",
    "consolehost_history.txt",
    ".python_history",
    ".psql_history",
    ".mysql_history",
    ".mariadb_history",
    ".sqlite_history",
    ".rediscli_history",
    ".mongo_history",
    ".dbshell",
    ".node_repl_history",
    ".irb_history",
    ".pry_history",
    ".php_history",
    ".lesshst",
    ".viminfo",
];

const EXTENSIONS: &[&str] = &[
    "p12",
    "pfx",
    "p8",
    "pk8",
    "jks",
    "keystore",
    "kdb",
    "kdbx",
    "ppk",
    "asc_key",
    "ovpn",
    "keytab",
    "agekey",
    "jceks",
    "bcfks",
    "mobileprovision",
];

/// Extensions of private and public keys alike.
const KEY_EXTENSIONS: &[&str] = &["pem", "key"];

/// (folder, name): names that are a secret only there.
const LOCATIONS: &[(&str, &str)] = &[
    (".aws", "credentials"),
    (".docker", "config.json"),
    (".kube", "config"),
    (".cargo", "credentials"),
    (".cargo", "credentials.toml"),
    (".gem", "credentials"),
    (".composer", "auth.json"),
    (".bundle", "config"),
    (".fly", "config.yml"),
    ("gh", "hosts.yml"),
    ("gcloud", "credentials.db"),
    ("gcloud", "access_tokens.db"),
];

const FOLDERS: &[&str] = &[".ssh", ".gnupg", ".password-store"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_locations_of_secrets_are_known() {
        for secret in [
            "id_rsa",
            "keys/id_ed25519",
            "id_rsa.bak",
            "deploy_id_rsa",
            "x.p12",
            "x.PFX",
            "app.jks",
            "app.jks.orig",
            "debug.keystore",
            "vault.kdbx",
            "putty.ppk",
            ".netrc",
            ".htpasswd",
            ".aws/credentials",
            "home/.docker/config.json",
            "terraform.tfstate",
            "terraform.tfstate.backup",
            "service-account.json",
            "service_account_prod.json",
            "client_secret_1.json",
            ".ssh/config",
            ".git-credentials",
            "config/master.key",
            "kubeconfig",
            ".kube/config",
            ".bash_history",
            "dump/.zsh_history",
            ".psql_history.old",
        ] {
            assert_eq!(judge(secret), Name::Secret, "{secret}");
        }
        for open in [
            ".env.example",
            ".env.example~",
            ".env.sample",
            ".env.template",
            ".env.dist",
            ".env.local.example",
            "env",
            "env.py",
            "keys.py",
            "key.rs",
            "id_rsa.pub",
            "id_rsa.pub.bak",
            "id_rsa.rs",
            "valid_rsa",
            "src/credentials.py",
            "secret.go",
            "secrets",
            "config.json",
            "docker/config.json",
            "environment.ts",
            "secrets.py",
            "monkey",
            "pem.rs",
            "docs/key.md",
            "keystore.java",
            "tfstate.go",
            "service_account.py",
            "service-account.example.json",
            "terraform.tfvars.example",
            "credentials.example.json",
            "credentials.json.sample",
            "environments/prod.yaml",
            ".environment",
            "config",
            "aws/credentials.md",
            "bash_history.c",
            "history",
            "release.gpg.asc",
        ] {
            assert_eq!(judge(open), Name::Open, "{open}");
        }
    }

    #[test]
    fn names_of_settings_are_suspect() {
        for suspect in [
            ".env",
            "deploy/.env",
            ".env.local",
            ".env.production",
            ".env-prod",
            ".env_staging",
            "prod.env",
            ".ENV",
            ".env~",
            ".env.bak",
            "app.env.bak",
            "app.env.old~",
            ".#.env",
            "#.env#",
            "..env.swp",
            ".npmrc",
            ".npmrc~",
            "pkg/.pypirc",
            "terraform.tfvars",
            "infra/prod.auto.tfvars",
            "secrets.tfvars.json",
            "home/.aws/config",
            ".my.cnf",
            ".envrc",
            ".dev.vars",
        ] {
            assert_eq!(judge(suspect), Name::Suspect, "{suspect}");
        }
    }

    #[test]
    fn some_names_leave_it_to_the_content() {
        for key in ["server.pem", "tests/certs/ca.pem", "public.key", "repo.gpg.key", "server.key.bak", "ca.pem~"] {
            assert_eq!(judge(key), Name::Key, "{key}");
        }
        for all in ["config/credentials.json", "credentials", ".credentials", ".secrets", "creds.txt", "secrets.toml~"]
        {
            assert_eq!(judge(all), Name::Settings(Reach::All), "{all}");
        }
        for named in ["locales/en/credentials.json", "secrets.yaml", "k8s/secret.yml", "dev.tfvars", "dev.tfvars.json"]
        {
            assert_eq!(judge(named), Name::Settings(Reach::Named), "{named}");
        }
    }
}
