//! Verdicts on files as people and programs write them. Secrets are assembled at run time: this file contains none.

use super::*;

/// Characters that look random and are the same in each run.
fn random(length: usize, alphabet: &[u8]) -> String {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let draw = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(alphabet[usize::try_from(state >> 33).unwrap() % alphabet.len()])
    };
    (0..length).map(draw).collect()
}

const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const WORD: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

fn armour(label: &str, length: usize) -> String {
    let body = random(length, BASE64);
    let lines: Vec<&str> = body.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

fn github() -> String {
    ["gh", "p_", "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ", "0mLq17"].concat()
}

fn masked(text: &str) -> String {
    mask_text(text.into()).into_owned()
}

#[test]
fn private_keys_are_secrets_whatever_they_are_called() {
    let openssh = armour("OPENSSH PRIVATE KEY", 1600);
    let bag = format!(
        "Bag Attributes\n    localKeyID: 01 02 AF\nKey Attributes: <No Attributes>\n{}",
        armour("PRIVATE KEY", 1600)
    );
    let chain = armour("CERTIFICATE", 900) + "# the key of it\n" + &armour("EC PRIVATE KEY", 160);
    let putty = "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n".to_owned();
    let ssh2 = openssh.replace("-----", "---- ").replace("KEY---- ", "KEY ----").replace("OPENSSH", "SSH2 ENCRYPTED");
    let cut = openssh.split("-----END").next().unwrap().to_owned();
    let windows = openssh.replace('\n', "\r\n");
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(openssh.bytes().flat_map(|byte| [byte, 0])).collect();
    for text in [&openssh, &bag, &chain, &putty, &ssh2, &cut, &windows, &armour("PGP PRIVATE KEY BLOCK", 3000)] {
        for path in ["mykey", "deploy_key", "notes.txt", "certs/site.crt"] {
            assert!(is_secret(path, text.as_bytes()), "{path}: {text}");
        }
    }
    assert!(is_secret("mykey", &utf16), "as a shell of Windows redirects it");
}

#[test]
fn texts_that_contain_a_key_are_no_secrets() {
    let key = armour("RSA PRIVATE KEY", 1600);
    for (path, text) in [
        ("tests/key.py", format!("KEY = \"\"\"{key}\"\"\"\n")),
        ("tests/key.py", format!("KEY = \"\"\"\n{key}\"\"\"\n")),
        ("src/key.rs", format!("const KEY: &str = r\"\n{key}\";\n")),
        ("docs/tls.md", format!("# TLS\n\n```\n{key}```\n")),
        ("docs/plain.txt", format!("Keys look like this:\n\n{key}")),
        ("chart/values.yaml", format!("tls:\n  key: |\n{}", key.replace("\nM", "\n    M"))),
        ("placeholder", "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n".to_owned()),
        ("placeholder", format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", "A".repeat(64))),
        ("mention", "-----BEGIN PRIVATE KEY-----\n".to_owned()),
        ("src/main.rs", "fn main() {}\n".to_owned()),
        ("empty", String::new()),
    ] {
        assert!(!is_secret(path, text.as_bytes()), "{path}: {text}");
    }
}

#[test]
fn what_everybody_may_have_is_not_a_secret_though_it_is_called_a_key() {
    let public = [
        armour("PGP PUBLIC KEY BLOCK", 2000),
        armour("PUBLIC KEY", 400),
        armour("CERTIFICATE", 900) + &armour("CERTIFICATE", 700),
        "# repository\n\n".to_owned() + &armour("RSA PUBLIC KEY", 300),
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI me@there\n".to_owned(),
        "\n".to_owned(),
    ];
    for text in &public {
        for path in ["apt/repo.gpg.key", "ca.pem", "public.key"] {
            assert!(!is_secret(path, text.as_bytes()), "{path}: {text}");
        }
    }
    assert!(!is_secret("repo.gpg.key", &[0x99, 0x01, 0x0d, 0x04, 0x5f, 0x00]), "without armour");
    let mixed = armour("CERTIFICATE", 900) + &armour("PRIVATE KEY", 1600);
    for (path, text) in
        [("ca.pem", mixed), ("x.key", armour("RSA PRIVATE KEY", 40)), ("x.key", "9f86d081884c7d65".to_owned())]
    {
        assert!(is_secret(path, text.as_bytes()), "{path}: {text}");
    }
}

#[test]
fn files_to_log_in_with_are_secrets() {
    let key = armour("PRIVATE KEY", 1600).replace('\n', "\\n");
    let (forty, word) = (random(40, BASE64), random(24, WORD));
    for (path, text) in [
        ("gcp-abc123.json", format!(r#"{{"type": "service_account", "project_id": "p", "private_key": "{key}"}}"#)),
        ("oauth.json", format!(r#"{{"installed": {{"client_id": "1.apps", "client_secret": "{word}"}}}}"#)),
        (
            "adc.json",
            format!(
                r#"{{"client_id": "1", "client_secret": "{word}", "refresh_token": "{word}", "type": "authorized_user"}}"#
            ),
        ),
        ("key.json", format!(r#"{{"AccessKey": {{"UserName": "u", "SecretAccessKey": "{forty}"}}}}"#)),
        ("docker.json", format!(r#"{{"auths": {{"registry.local": {{"auth": "{word}"}}}}}}"#)),
        ("jwk.json", format!(r#"{{"kty": "EC", "crv": "P-256", "x": "{word}", "d": "{word}"}}"#)),
        ("cluster.yml", format!("apiVersion: v1\nkind: Config\nusers:\n- name: u\n  user:\n    token: {word}\n")),
        ("wg0.conf", format!("[Interface]\nAddress = 10.0.0.1/24\nPrivateKey = {}=\n", random(43, BASE64))),
        ("token.txt", github() + "\n"),
        ("settings", format!("# mine\nexport DEBUG=1\nGH_TOKEN={}\n", github())),
        ("aws", format!("[default]\naws_access_key_id = x\naws_secret_access_key = {forty}\n")),
        ("config/credentials.json", format!(r#"{{"user": "me", "password": "{word}"}}"#)),
        ("config/credentials.json", r#"{"api": {"login": "hunter2"}}"#.to_owned()),
        ("credentials.yml", "production:\n  db_password: hunter2\n".to_owned()),
        ("k8s/secret.yaml", "kind: Secret\nmetadata:\n  name: app\ndata:\n  db: aHVudGVyMg==\n".to_owned()),
        ("dev.tfvars", "region = \"eu-west-1\"\ndb_password = \"hunter2\"\n".to_owned()),
        ("creds.txt", "me=hunter2\n".to_owned()),
    ] {
        assert!(is_secret(path, text.as_bytes()), "{path}: {text}");
    }
}

#[test]
fn forms_labels_and_references_are_no_secrets() {
    for (path, text) in [
        (
            "gcp.json",
            r#"{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----"}"#,
        ),
        ("oauth.json", r#"{"client_id": "<your id>", "client_secret": "<your secret>"}"#),
        ("api.json", r#"{"paths": {"/token": {"client_id": 1}}, "client_secret": {"type": "string"}}"#),
        ("jwk.json", r#"{"kty": "RSA", "n": "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx", "e": "AQAB"}"#),
        ("locales/en/credentials.json", r#"{"title": "Credentials", "password": "Password", "hint": "Choose one"}"#),
        ("credentials.json", r#"{"password": "", "token": "${TOKEN}", "key": "changeme", "name": "x"}"#),
        ("k8s/secret.yaml", "kind: Secret\ntype: Opaque\ndata:\n  db: {{ .Values.db | b64enc }}\n"),
        (
            ".github/workflows/secrets.yml",
            "on: push\njobs:\n  scan:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n",
        ),
        ("dev.tfvars", "region = \"eu-west-1\"\ncount = 3\nsecret_name = \"app\"\n"),
        ("cluster.yml", "apiVersion: v1\nkind: Config\nusers:\n- name: u\n  user:\n    exec: {}\n"),
        ("settings", "A=1\nB=two\n"),
        ("token.txt", "not a token\n"),
        ("package.json", r#"{"name": "x", "private": true}"#),
    ] {
        assert!(!is_secret(path, text.as_bytes()), "{path}: {text}");
    }
}

#[test]
fn tokens_in_a_source_are_masked_and_nothing_moves() {
    let key = armour("RSA PRIVATE KEY", 1600);
    let escaped = key.replace('\n', "\\n");
    let forty = random(40, BASE64);
    let text = format!(
        "ä = 'ghp'\nTOKEN = \"{}\"  # of CI\n{key}x = \"{escaped}\"\naws_secret_access_key = {forty}\nend = 1\n",
        github()
    );
    let shown = masked(&text);
    assert!(shown.contains(&format!("TOKEN = \"ghp_{}\"  # of CI\n", "*".repeat(36))), "{shown}");
    assert!(shown.contains(&format!("aws_secret_access_key = {}\n", "*".repeat(40))), "{shown}");
    assert!(!shown.contains(&key[40..60]) && !shown.contains(&forty), "{shown}");
    assert!(shown.contains("KEY-----\\n**") && shown.contains("**\\n-----END RSA"), "escapes stay: {shown}");
    let shape = |text: &str| text.lines().map(|line| (line.len(), line.chars().count())).collect::<Vec<_>>();
    assert_eq!(shape(&shown), shape(&text));
    assert_eq!(masked(&shown), shown, "once is enough");
}

#[test]
fn each_kind_of_token_is_known() {
    let (hex, word) = (|length| random(length, b"0123456789abcdef"), |length| random(length, WORD));
    let header = ["eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", ".eyJzdWIiOiIxIiwibiI6Im1lIn0.", &word(43)].concat();
    for token in [
        github(),
        ["github", "_pat_", &word(22), "_", &word(59)].concat(),
        ["npm", "_", "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ", "0mLq17"].concat(),
        ["gl", "pat-", &word(20)].concat(),
        ["AK", "IA", &random(16, b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")].concat(),
        ["AI", "za", &word(35)].concat(),
        ["xo", "xb-", &random(12, b"0123456789"), "-", &word(24)].concat(),
        ["sk", "_live_", &word(24)].concat(),
        ["py", "pi-AgEIcHlwaS5vcmc", &word(80)].concat(),
        ["sk-", "ant-api03-", &word(93)].concat(),
        ["h", "f_", &random(34, &WORD[..52])].concat(),
        ["S", "G.", &word(22), ".", &word(43)].concat(),
        ["do", "p_v1_", &hex(64)].concat(),
        ["shp", "at_", &hex(32)].concat(),
        header,
    ] {
        let line = format!("let x = '{token}';");
        assert!(masked(&line).matches('*').count() * 4 >= token.len(), "{line}: {}", masked(&line));
        assert!(is_secret("token", token.as_bytes()), "{token}");
    }
    let address = format!("postgres://app:{}@db/x", word(16));
    assert_eq!(masked(&address), format!("postgres://app:{}@db/x", "*".repeat(16)));
    assert_eq!(
        masked("amqp://app:ab-Cdefgh1jk@mq/"),
        "amqp://app:************@mq/",
        "no part of a password is a prefix"
    );
    let unchecked = ["gh", "p_", &word(36)].concat();
    assert!(masked(&unchecked).contains("****"), "even if it is made up, it may be one");
    assert!(!is_secret("token", unchecked.as_bytes()), "its checksum says that it is not one");
}

#[test]
fn words_that_look_like_tokens_stay() {
    for text in [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "sk_test_00000000000000000000",
        "https://user:password@example.org/",
        "https://example.org:8080/a@b",
        "eyJub3QiOiJhIGhlYWRlciJ9.eyJub3QiOiJvbmUifQ.aaaaaaaaaaaaaaaaaaaaaaaa",
        "fn ghp_of(x: &str) -> key_of::<T>()",
        "d41d8cd98f00b204e9800998ecf8427e",
        "sha512-Tu7bG1tS3V8Gq2NfGkM0Jk1Yt2S8v3Dd0HqVb0uU6cQW8sZb0m2Yz1g5mC5k7Zl0",
    ] {
        assert_eq!(masked(text), text);
    }
    let certificate = armour("CERTIFICATE", 900);
    assert_eq!(masked(&certificate), certificate);
}

#[test]
fn hostile_armour_takes_time_in_proportion() {
    let many = "-----BEGIN PRIVATE KEY-----\nAAAA\n".repeat(60_000);
    assert_eq!(pem::blocks(many.as_bytes()).count(), 60_000);
    let ends = "-----END PRIVATE KEY-----".repeat(60_000) + &many;
    assert_eq!(pem::blocks(ends.as_bytes()).count(), 60_000);
}
