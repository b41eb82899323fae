//! `ixmcp setup` on settings as people have them: what is there stays byte for byte, and goes back to what it was.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Stdio;

use expect_test::{Expect, expect};
use serde_json::Value;

use crate::harness::Repo;

/// Sets a client up over `before`, twice, and takes it out again.
fn check(client: &str, file: &str, before: &str, after: &Expect) {
    let repo = Repo::new("");
    let read = || fs::read_to_string(repo.path().join(file)).unwrap();
    repo.write(file, before);
    let shown = repo.ok(&["setup", client, "--print"]);
    assert_eq!(read(), before, "--print changes nothing");
    let patch = repo.ok(&["setup", client, "--yes"]);
    assert!(patch.starts_with("--- ") && patch.contains("\n+"), "{patch}");
    assert_eq!(patch, shown, "--print shows what is written");
    after.assert_eq(&read());
    let first = read();
    assert_eq!(repo.ok(&["setup", client]), "", "a second time changes nothing");
    assert_eq!(read(), first);
    let shown = repo.ok(&["setup", client, "--remove", "--print"]);
    assert_eq!(read(), first, "--remove --print changes nothing");
    assert_eq!(repo.ok(&["setup", client, "--remove", "--yes"]), shown);
    let removed = read();
    // With other servers, the text is what it was; what was made for ours stays, empty.
    let without = |text: &str| text.split_whitespace().collect::<String>();
    if ["\"command\"", "\"url\"", "command ="].iter().any(|server| before.contains(server)) {
        // What was one line may be two.
        let is_line = before.lines().count() == 1;
        assert!(removed == before || (is_line && without(&removed) == without(before)), "{client}: {removed}");
    } else {
        let more = without(&removed).len() - without(before).len();
        assert!(more <= "\"context_servers\":{},".len(), "{client}: {removed}\n---\n{before}");
        assert!(!removed.contains("ixmcp"), "{removed}");
    }
    assert_eq!(repo.ok(&["setup", client, "--remove"]), "");
}

fn home(repo: &Repo) -> PathBuf {
    repo.command(&[]).get_envs().find(|(name, _)| *name == "HOME").unwrap().1.unwrap().into()
}

#[test]
fn claude_code_keeps_its_other_servers() {
    check(
        "claude-code",
        ".mcp.json",
        "{\n  \"mcpServers\": {\n    \"github\": {\n      \"type\": \"http\",\n      \"url\": \"https://api.githubcopilot.com/mcp/\"\n    }\n  }\n}\n",
        &expect![[r#"
            {
              "mcpServers": {
                "github": {
                  "type": "http",
                  "url": "https://api.githubcopilot.com/mcp/"
                },
                "ixmcp": {
                  "type": "stdio",
                  "command": "ixmcp",
                  "args": ["mcp"]
                }
              }
            }
        "#]],
    );
}

#[test]
fn claude_desktop_is_given_the_repository_and_keeps_the_user_s_preferences() {
    let repo = Repo::new("");
    let root = repo.path().canonicalize().unwrap();
    let program = fs::canonicalize(env!("CARGO_BIN_EXE_ixmcp")).unwrap();
    let program = program.display();
    let before = "{\n  \"globalShortcut\": \"Ctrl+Space\",\n  \"mcpServers\": {\n    \"filesystem\": {\n      \"command\": \"npx\",\n      \"args\": [\n        \"-y\",\n        \"@modelcontextprotocol/server-filesystem\",\n        \"/home/ana/Téléchargements\"\n      ]\n    }\n  },\n  \"preferences\": {\n    \"menuBarEnabled\": false\n  }\n}";
    let file = home(&repo).join(".config/Claude/claude_desktop_config.json");
    let after = before.replace(
        "\"/home/ana/Téléchargements\"\n      ]\n    }\n",
        &format!(
            "\"/home/ana/Téléchargements\"\n      ]\n    }},\n    \"ixmcp\": {{\n      \"command\": \"{program}\",\n      \"args\": [\"mcp\", \"--repo\", \"{}\"]\n    }}\n",
            root.display()
        ),
    );
    for scope in [&["claude-desktop", "--scope", "user"][..], &["claude-desktop"]] {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, before).unwrap();
        repo.ok(&[&["setup", "--yes"], scope].concat());
        let entry: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(entry["mcpServers"]["ixmcp"]["args"][2], root.to_str().unwrap(), "{scope:?}");
        repo.ok(&[&["setup", "--yes"], scope, &["--remove"]].concat());
        assert_eq!(fs::read_to_string(&file).unwrap(), before);
    }
    repo.ok(&["setup", "claude-desktop", "--scope", "user", "--yes"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), after);
}

#[test]
fn vscode_keeps_comments_and_trailing_commas() {
    check(
        "vscode",
        ".vscode/mcp.json",
        "// What the team uses.\n{\n\t\"inputs\": [\n\t\t{ \"id\": \"key\", \"type\": \"promptString\", \"password\": true }, // asked once\n\t],\n\t/* the servers */\n\t\"servers\": {\n\t\t\"fetch\": { \"command\": \"uvx\", \"args\": [\"mcp-server-fetch\"] }, // https://example.org/a,b\n\t},\n}\n",
        &expect![[r#"
            // What the team uses.
            {
            	"inputs": [
            		{ "id": "key", "type": "promptString", "password": true }, // asked once
            	],
            	/* the servers */
            	"servers": {
            		"fetch": { "command": "uvx", "args": ["mcp-server-fetch"] }, // https://example.org/a,b
            		"ixmcp": {
            			"type": "stdio",
            			"command": "ixmcp",
            			"args": ["mcp", "--repo", "${workspaceFolder}"]
            		},
            	},
            }
        "#]],
    );
}

#[test]
fn cursor_takes_an_empty_object_and_one_line() {
    check(
        "cursor",
        ".cursor/mcp.json",
        "{}",
        &expect![[r#"
            {
              "mcpServers": {
                "ixmcp": {
                  "type": "stdio",
                  "command": "ixmcp",
                  "args": ["mcp", "--repo", "${workspaceFolder}"]
                }
              }
            }"#]],
    );
    check(
        "cursor",
        ".cursor/mcp.json",
        "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}\n",
        &expect![[r#"
            {"mcpServers":{"a":{"command":"a"},
              "ixmcp": {
                "type": "stdio",
                "command": "ixmcp",
                "args": ["mcp", "--repo", "${workspaceFolder}"]
              }
            }}
        "#]],
    );
}

#[test]
fn zed_keeps_its_settings_with_their_comments() {
    check(
        "zed",
        ".zed/settings.json",
        "// Zed settings\n//\n// see https://zed.dev/docs\n{\n  \"theme\": \"One Dark\", // at night\n  \"languages\": {\n    \"Python\": { \"tab_size\": 4 }\n  }\n  // the end\n}\n",
        &expect![[r#"
            // Zed settings
            //
            // see https://zed.dev/docs
            {
              "theme": "One Dark", // at night
              "languages": {
                "Python": { "tab_size": 4 }
              },
              // the end
              "context_servers": {
                "ixmcp": {
                  "command": "ixmcp",
                  "args": ["mcp"],
                  "env": {}
                }
              }
            }
        "#]],
    );
}

#[test]
fn gemini_keeps_line_ends_and_a_byte_order_mark() {
    let before =
        "\u{feff}{\r\n    \"selectedAuthType\": \"oauth-personal\",\r\n    \"mcpServers\": {\r\n    }\r\n}\r\n";
    check(
        "gemini",
        ".gemini/settings.json",
        before,
        &expect![[
            "\u{feff}{\r\n    \"selectedAuthType\": \"oauth-personal\",\r\n    \"mcpServers\": {\r\n        \"ixmcp\": {\r\n            \"command\": \"ixmcp\",\r\n            \"args\": [\"mcp\"]\r\n        }\r\n    }\r\n}\r\n"
        ]],
    );
}

#[test]
fn opencode_has_a_form_of_its_own() {
    check(
        "opencode",
        "opencode.jsonc",
        "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  // which model\n  \"model\": \"anthropic/claude-sonnet-4-5\"\n}\n",
        &expect![[r#"
            {
              "$schema": "https://opencode.ai/config.json",
              // which model
              "model": "anthropic/claude-sonnet-4-5",
              "mcp": {
                "ixmcp": {
                  "type": "local",
                  "command": ["ixmcp", "mcp"],
                  "enabled": true
                }
              }
            }
        "#]],
    );
}

#[test]
fn codex_keeps_its_tables() {
    check(
        "codex",
        ".codex/config.toml",
        "model = \"gpt-5\" # the default\n\n[mcp_servers.docs]\ncommand = \"npx\"\nargs = [\n  \"-y\", # yes\n  \"docs-mcp\",\n]\n\n# Who may do what.\n[projects.\"/home/ana/code\"]\ntrust_level = \"trusted\"\n",
        &expect![[r#"
            model = "gpt-5" # the default

            [mcp_servers.docs]
            command = "npx"
            args = [
              "-y", # yes
              "docs-mcp",
            ]

            # Who may do what.
            [projects."/home/ana/code"]
            trust_level = "trusted"

            [mcp_servers.ixmcp]
            command = "ixmcp"
            args = ["mcp"]
        "#]],
    );
}

#[test]
fn an_entry_that_starts_something_else_is_fixed_and_keeps_what_people_added() {
    let repo = Repo::new("");
    repo.write(
        ".mcp.json",
        "{\n  \"mcpServers\": {\n    \"ixmcp\": { \"command\": \"/gone/ixmcp\", \"args\": [\"serve\"], \"env\": { \"A\": \"b\" } }\n  }\n}\n",
    );
    repo.write(
        ".codex/config.toml",
        "[mcp_servers.ixmcp] # ours\ncommand = \"/gone/ixmcp\"\nargs = [\n  \"x\",\n]\nstartup_timeout_sec = 20\n\n[mcp_servers.ixmcp.env]\nA = \"b\"\n\n[tui]\n",
    );
    repo.ok(&["setup", "claude-code", "codex", "--yes"]);
    let settings: Value = serde_json::from_str(&fs::read_to_string(repo.path().join(".mcp.json")).unwrap()).unwrap();
    let entry = &settings["mcpServers"]["ixmcp"];
    assert_eq!((&entry["command"], &entry["env"]["A"]), (&"ixmcp".into(), &"b".into()), "{entry}");
    expect![[r#"
        [mcp_servers.ixmcp] # ours
        command = "ixmcp"
        args = ["mcp"]
        startup_timeout_sec = 20

        [mcp_servers.ixmcp.env]
        A = "b"

        [tui]
    "#]]
    .assert_eq(&fs::read_to_string(repo.path().join(".codex/config.toml")).unwrap());
    // Words that a person chose stay.
    let chosen =
        "{ \"mcpServers\": { \"ixmcp\": { \"command\": \"ixmcp\", \"args\": [\"mcp\", \"--tools\", \"core\"] } } }";
    repo.write(".cursor/mcp.json", chosen);
    assert_eq!(repo.ok(&["setup", "cursor"]), "");
    repo.ok(&["setup", "codex", "--remove", "--yes"]);
    assert_eq!(fs::read_to_string(repo.path().join(".codex/config.toml")).unwrap().trim(), "[tui]");
}

#[test]
fn files_are_created_where_missing_and_never_with_print() {
    let repo = Repo::new("");
    let answer: Value = serde_json::from_str(&repo.ok(&["setup", "--all", "--print", "--json"])).unwrap();
    let clients = answer["clients"].as_array().unwrap();
    assert_eq!(clients.len(), 7, "Claude Desktop has no settings of projects: {answer}");
    assert!(clients.iter().all(|client| client["changes"] == true && client["written"] == false), "{answer}");
    assert!(clients.iter().all(|client| !PathBuf::from(client["file"].as_str().unwrap()).exists()));
    repo.ok(&["setup", "--all", "--yes"]);
    let opencode = fs::read_to_string(repo.path().join("opencode.json")).unwrap();
    assert!(opencode.contains("\"$schema\"") && opencode.contains("[\"ixmcp\", \"mcp\"]"), "{opencode}");
    let refused = Repo::new("");
    assert!(refused.fails(&["setup"]).contains("claude-code"), "nobody knows which client is meant");
    assert!(refused.fails(&["setup", "emacs"]).contains("there is no client"));
}

#[test]
fn settings_of_a_person_are_changed_behind_their_links_and_stay_private() {
    let repo = Repo::new("");
    let home = home(&repo);
    let kept = tempfile::tempdir().unwrap();
    let file = kept.path().join("claude.json");
    fs::write(&file, "{\n  \"numStartups\": 7,\n  \"projects\": {}\n}\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(&file, home.join(".claude.json")).unwrap();
    repo.ok(&["setup", "claude-code", "claude-desktop", "--scope", "user", "--yes"]);
    assert!(home.join(".claude.json").is_symlink());
    let settings: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(settings["numStartups"], 7);
    let command = settings["mcpServers"]["ixmcp"]["command"].as_str().unwrap();
    assert!(PathBuf::from(command).is_file(), "by its file where no name finds it: {command}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let desktop = fs::read_to_string(home.join(".config/Claude/claude_desktop_config.json")).unwrap();
    let desktop: Value = serde_json::from_str(&desktop).unwrap();
    let root = repo.path().canonicalize().unwrap();
    assert_eq!(desktop["mcpServers"]["ixmcp"]["args"][2], root.to_str().unwrap());
    // A project's settings that lie elsewhere are not the project's.
    std::os::unix::fs::symlink(kept.path(), repo.path().join(".cursor")).unwrap();
    assert!(repo.fails(&["setup", "cursor"]).contains("leads out of the project"));
    let findings: Value = serde_json::from_str(&repo.ok(&["doctor", "clients", "--json"])).unwrap();
    assert_eq!(findings["findings"][0]["level"], "ok", "{findings}");
}

#[test]
fn settings_of_a_person_need_no_repository_unless_they_name_one() {
    let repo = Repo::new("");
    let home = home(&repo);
    let in_home = |arguments: &[&str]| repo.command(arguments).current_dir(&home).output().unwrap();
    assert!(in_home(&["setup", "codex", "--scope", "user", "--yes"]).status.success());
    assert!(fs::read_to_string(home.join(".codex/config.toml")).unwrap().contains("[mcp_servers.ixmcp]"));
    let desktop = home.join(".config/Claude/claude_desktop_config.json");
    let named = in_home(&["setup", "claude-desktop", "--scope", "user"]);
    assert_eq!(named.status.code(), Some(2));
    assert!(String::from_utf8(named.stderr).unwrap().contains("--repo") && !desktop.exists());
    let all = in_home(&["setup", "--all", "--scope", "user", "--yes"]);
    assert!(all.status.success() && !desktop.exists() && home.join(".gemini/settings.json").exists());
    assert!(String::from_utf8(all.stderr).unwrap().contains("claude-desktop: left out: INVALID_PATH"));
    let project = in_home(&["setup", "codex"]);
    assert!(String::from_utf8(project.stderr).unwrap().contains("home folder"), "a project's go nowhere else");
    // What was set up elsewhere can be taken out from anywhere.
    repo.ok(&["setup", "claude-desktop", "--yes"]);
    assert!(in_home(&["setup", "claude-desktop", "--scope", "user", "--remove", "--yes"]).status.success());
    assert!(!fs::read_to_string(&desktop).unwrap().contains("ixmcp"));
}

#[test]
fn what_cannot_be_changed_safely_is_left_alone() {
    let repo = Repo::new("");
    for (client, file, text) in [
        ("cursor", ".cursor/mcp.json", "{ \"mcpServers\": ["),
        ("cursor", ".cursor/mcp.json", "[]"),
        ("cursor", ".cursor/mcp.json", "{ \"mcpServers\": [] }"),
        ("vscode", ".vscode/mcp.json", "{ \"servers\": null }"),
        ("codex", ".codex/config.toml", "mcp_servers = { docs = { command = \"x\" } }\n"),
        ("codex", ".codex/config.toml", "[mcp_servers\n"),
        ("codex", ".codex/config.toml", "[[mcp_servers]]\nname = \"x\"\n"),
    ] {
        repo.write(file, text);
        let reported = repo.fails(&["setup", client]);
        assert!(reported.contains("INVALID_ARGUMENT"), "{client} {text}: {reported}");
        assert_eq!(fs::read_to_string(repo.path().join(file)).unwrap(), text);
    }
    repo.write(".cursor/mcp.json", b"{ \"a\": \"\xff\" }");
    assert!(repo.fails(&["setup", "cursor"]).contains("UTF-8"));
}

#[test]
fn a_prompt_that_cannot_be_shown_is_answered_no() {
    let repo = Repo::new("");
    let file = repo.path().join(".cursor/mcp.json");
    for piped in ["n\n", "y\n", ""] {
        let mut command = repo.command(&["setup", "cursor"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // It may end without reading what it was given.
        let _ = child.stdin.take().unwrap().write_all(piped.as_bytes());
        let output = child.wait_with_output().unwrap();
        let reported = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{piped:?}: {reported}");
        assert!(reported.contains("--yes") && reported.contains("nothing was written"), "{piped:?}: {reported}");
        assert!(!output.stdout.is_empty(), "the change is shown");
        assert!(!file.exists(), "{piped:?}");
    }
    assert_eq!(repo.run(&["setup", "cursor", "--json"]).status.code(), Some(1));
    assert!(!file.exists(), "--json is no consent");
    repo.ok(&["setup", "cursor", "--yes"]);
    let before = fs::read_to_string(&file).unwrap();
    assert_eq!(repo.run(&["setup", "cursor", "--remove"]).status.code(), Some(1));
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    repo.ok(&["setup", "cursor"]);
}
