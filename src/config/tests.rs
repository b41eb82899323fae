//! Tests of the precedence of sources, and of rejected values.

use expect_test::expect;

use super::*;
use crate::error::ErrorKind;

/// Loads settings from variables, a user's file and a repository's file.
fn load(variables: &[(&str, &str)], user: &str, repository: &str) -> Result<(Config, Vec<String>)> {
    let dir = tempfile::tempdir().unwrap();
    let (home, root) = (dir.path().join("home"), dir.path().join("root"));
    std::fs::create_dir_all(home.join(".config/ixmcp")).unwrap();
    std::fs::create_dir_all(&root).unwrap();
    std::fs::write(home.join(".config/ixmcp/config.toml"), user).unwrap();
    std::fs::write(root.join(REPOSITORY_FILE), repository).unwrap();
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let environment = Environment::new(variables, home, root.clone());
    let named = |text: String| text.replace(dir.path().to_str().unwrap(), "DIR");
    let loaded = Config::load(&Flags::default(), &environment, Some(&root));
    let (config, warnings) = loaded.map_err(|mut error| {
        error.message = named(error.message.to_string()).into();
        error
    })?;
    Ok((config, warnings.into_iter().map(|warning| named(warning.0)).collect()))
}

#[test]
fn every_key_accepts_its_default_and_is_listed_once() {
    for key in KEYS {
        key.default_value();
        assert_eq!(KEYS.iter().filter(|other| other.name == key.name || other.variable == key.variable).count(), 1);
    }
    let config = Config::default();
    assert_eq!(config.index.max_file_size, 2 * 1024 * 1024);
    assert_eq!(config.index.chunk_size, 1500);
    assert!(config.index.skip_secrets && config.index.skip_minified && config.index.skip_generated);
    assert_eq!(config.daemon.tcp, Some(Address { host: "localhost".into(), port: 7777 }));
}

#[test]
fn the_first_source_that_sets_a_key_wins() {
    let user = "[index]\nchunk_size = 900\nmax_file_size = 5000\nexclude = ['a']";
    let repository = "[index]\nchunk_size = 800\nmax_file_size = 6000\nskip_minified = false\nexclude = ['b']";
    let (config, warnings) = load(&[("IXMCP_CHUNK_SIZE", "700"), ("IXMCP_EXCLUDE", "c, d")], user, repository).unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    assert_eq!(config.index.chunk_size, 700);
    assert_eq!(config.index.max_file_size, 5000);
    assert!(!config.index.skip_minified);
    assert_eq!(config.index.exclude, ["c", "d", "a", "b"]);
}

#[test]
fn flags_override_all_other_sources() {
    let environment = Environment::new([("IXMCP_TCP".into(), "off".into())], "/nowhere".into(), "/nowhere".into());
    let flags = Flags { settings: vec![("daemon.tcp", "127.0.0.1:9".into())], ..Flags::default() };
    let (config, _) = Config::load(&flags, &environment, None).unwrap();
    assert_eq!(config.daemon.tcp.unwrap().to_string(), "127.0.0.1:9");
}

#[test]
fn a_repository_cannot_widen_access() {
    let repository = "[index]\nskip_secrets = false\n[daemon]\ntcp = 'localhost:1'";
    let (config, warnings) = load(&[], "", repository).unwrap();
    assert_eq!(config, Config::default());
    expect![[r#"
        DIR/root/.ixmcp.toml: daemon.tcp is ignored, because a repository may not set it
        DIR/root/.ixmcp.toml: index.skip_secrets is ignored, because a repository may not set it"#]]
    .assert_eq(&warnings.join("\n"));

    let (config, warnings) = load(&[], "[index]\nskip_secrets = false", "").unwrap();
    assert!(!config.index.skip_secrets);
    assert_eq!(warnings, Vec::<String>::new());
}

#[test]
fn what_a_repository_sets_is_cut_to_a_bound_that_the_user_lifts() {
    let entries = |count: usize| (0..count).map(|at| format!("'e{at}'")).collect::<Vec<_>>().join(", ");
    let long = "x".repeat(5_000);
    let repository = format!(
        "[index]\nmax_file_size = 1073741824\nmax_document_size = 1073741824\ntrigrams_from = 1125899906842624\n\
         exclude = ['{long}', {}]\n[entities]\nnotes = [{}]\n[scip]\nfiles = [{}]\n",
        entries(1001),
        entries(101),
        entries(21)
    );
    let (config, warnings) = load(&[], "", &repository).unwrap();
    let Config { index, scip_files, .. } = &config;
    assert_eq!((index.max_file_size, index.max_document_size, index.trigrams_from), (4 << 20, 64 << 20, 64 << 20));
    assert_eq!((index.exclude.len(), index.notes.len(), scip_files.len()), (1000, 100, 20));
    assert_eq!((index.exclude[0].as_str(), index.exclude[999].as_str()), ("e0", "e999"));
    expect![[r#"
        DIR/root/.ixmcp.toml: entities.notes is cut, because a repository may set it up to 100 entries; your own settings may set more
        DIR/root/.ixmcp.toml: index.exclude is cut, because a repository may set it up to 1000 entries; your own settings may set more
        DIR/root/.ixmcp.toml: index.max_document_size is cut, because a repository may set it up to 67108864; your own settings may set more
        DIR/root/.ixmcp.toml: index.max_file_size is cut, because a repository may set it up to 4194304; your own settings may set more
        DIR/root/.ixmcp.toml: index.trigrams_from is cut, because a repository may set it up to 67108864; your own settings may set more
        DIR/root/.ixmcp.toml: scip.files is cut, because a repository may set it up to 20 entries; your own settings may set more"#]].assert_eq(&warnings.join("\n"));
    let size = warnings.iter().find(|warning| warning.contains("index.max_file_size")).unwrap();
    assert!(
        size.ends_with("is cut, because a repository may set it up to 4194304; your own settings may set more"),
        "{size}"
    );
    // Values within the bounds stay, and the user's own have none of these bounds.
    let outside = "[index]\nmax_file_size = 1073741825\nchunk_size = -1\ntrigrams_from = 9223372036854775807";
    let (config, warnings) = load(&[], "", outside).unwrap();
    let index = &config.index;
    assert_eq!((index.max_file_size, index.trigrams_from), (4 << 20, 64 << 20), "numbers outside of any range");
    expect![[r#"
        DIR/root/.ixmcp.toml: index.chunk_size is cut, because it must be an integer from 200 to 20000
        DIR/root/.ixmcp.toml: index.max_file_size is cut, because a repository may set it up to 4194304; your own settings may set more
        DIR/root/.ixmcp.toml: index.trigrams_from is cut, because a repository may set it up to 67108864; your own settings may set more"#]].assert_eq(&warnings.join("\n"));
    let small = "[index]\nmax_file_size = 4194304\nexclude = ['a']";
    assert_eq!(load(&[], "", small).unwrap().1, Vec::<String>::new());
    let (config, warnings) = load(&[], "[index]\nmax_file_size = 1073741824", small).unwrap();
    assert_eq!((config.index.max_file_size, warnings.len()), (1 << 30, 0));
    let (config, _) = load(&[("IXMCP_MAX_FILE_SIZE", "1073741824")], "", &repository).unwrap();
    assert_eq!(config.index.max_file_size, 1 << 30);
}

#[test]
fn every_key_that_is_a_number_or_a_list_says_how_much_of_it_a_repository_may_set() {
    // Its whole range costs little.
    let harmless = ["index.chunk_size"];
    for key in KEYS {
        let is_open = key.in_repository == InRepository::Any && !harmless.contains(&key.name);
        assert!(!is_open || key.kind == keys::Kind::Flag, "{} has no bound", key.name);
    }
}

#[test]
fn an_unknown_key_is_reported_with_the_most_similar_key() {
    let (_, warnings) = load(&[("IXMCP_CHUNKSIZE", "9")], "top = 1\n[index]\nmax_filesize = 1", "").unwrap();
    expect![[r#"
        the environment variable IXMCP_CHUNKSIZE is not a setting; the nearest is IXMCP_CHUNK_SIZE
        DIR/home/.config/ixmcp/config.toml: index.max_filesize is not a setting; the nearest is index.max_file_size
        DIR/home/.config/ixmcp/config.toml: top is not a setting"#]]
    .assert_eq(&warnings.join("\n"));
}

#[test]
fn an_invalid_value_is_reported_with_file_and_key_but_not_quoted() {
    let of_user = ["chunk_size = 5", "chunk_size = -1"].map(|wrong| (wrong, "config.toml"));
    let of_both = ["chunk_size = 'hunter2'", "exclude = [1]", "skip_minified = 1"];
    let of_both = of_both.into_iter().flat_map(|wrong| [(wrong, "config.toml"), (wrong, REPOSITORY_FILE)]);
    for (wrong, file) in of_both.chain(of_user) {
        let written = format!("[index]\n{wrong}");
        let (user, repository) = if file == REPOSITORY_FILE { ("", &*written) } else { (&*written, "") };
        let error = load(&[], user, repository).unwrap_err();
        assert_eq!(error.kind, ErrorKind::InvalidArgument);
        let key = wrong.split(' ').next().unwrap();
        let text = error.to_string();
        assert!(text.contains(file) && text.contains(key) && text.contains("must be"), "{text}");
        assert!(!text.contains("hunter2"), "{text}");
    }
    let error = load(&[], "[index]\n\npassword = hunter2 =", "").unwrap_err().to_string();
    expect!["INVALID_ARGUMENT: DIR/home/.config/ixmcp/config.toml, line 3, is not TOML. Correct it or remove it."]
        .assert_eq(&error);
    let error = load(&[("IXMCP_TCP", "0.0.0.0:80")], "", "").unwrap_err().to_string();
    expect![[r#"INVALID_ARGUMENT: the environment: IXMCP_TCP must be a loopback address with a port, such as "localhost:7777", or "off". Correct it or remove it."#]].assert_eq(&error);
}

#[test]
fn a_repository_file_that_is_a_link_is_rejected() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("other"), "x = 1").unwrap();
    std::os::unix::fs::symlink("other", dir.path().join(REPOSITORY_FILE)).unwrap();
    let environment = Environment::new([], dir.path().join("home"), dir.path().into());
    let error = Config::load(&Flags::default(), &environment, Some(dir.path())).unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidArgument);
}

#[test]
fn folders_follow_xdg_and_the_start_folder_its_precedence() {
    let variables = [
        ("XDG_STATE_HOME".to_owned(), "relative".to_owned()),
        ("XDG_CONFIG_HOME".to_owned(), "/conf".to_owned()),
        ("CLAUDE_PROJECT_DIR".to_owned(), "/project".to_owned()),
    ];
    let environment = Environment::new(variables, "/home/x".into(), "/cwd".into());
    assert_eq!(environment.config_folder().unwrap(), Path::new("/conf/ixmcp"));
    assert_eq!(environment.state_folder().unwrap(), Path::new("/home/x/.local/state/ixmcp"));
    assert_eq!(environment.start_folder(&Flags::default()).unwrap(), Path::new("/project"));
    let flags = Flags { repository: Some("sub".into()), ..Flags::default() };
    assert_eq!(environment.start_folder(&flags).unwrap(), Path::new("/cwd/sub"));
}

#[test]
fn a_time_is_in_minutes_or_has_a_unit() {
    for (text, seconds) in [("30", 1800), ("2s", 2), ("45m", 2700), ("2h", 7200)] {
        let (config, _) = load(&[("IXMCP_IDLE", text)], "", "").unwrap();
        assert_eq!(config.daemon.idle.as_secs(), seconds, "{text}");
    }
    let (config, _) = load(&[], "[daemon]\nidle = 5", "").unwrap();
    assert_eq!(config.daemon.idle.as_secs(), 300);
    for wrong in ["0", "-1", "2d", "s", "999999h"] {
        let error = load(&[("IXMCP_IDLE", wrong)], "", "").unwrap_err().to_string();
        assert!(error.contains("IXMCP_IDLE must be a time"), "{error}");
    }
}

#[test]
fn an_unknown_setting_suggests_only_similar_ones() {
    for (text, warning) in [
        ("index = 'x'", "index is not a setting but a section: write [index], and below it one of max_file_size, "),
        ("[index]\nchunk_sizes = 3", "index.chunk_sizes is not a setting; the nearest is index.chunk_size"),
        ("chunk_size = 3", "chunk_size is not a setting; the nearest is index.chunk_size"),
        ("[daemon]\ngpu = 'off'", "daemon.gpu is not a setting; the nearest is model.gpu"),
        ("[log]\ncolour = true", "log.colour is not a setting; that section has filter"),
    ] {
        let (_, warnings) = load(&[], text, "").unwrap();
        assert_eq!(warnings.len(), 1, "{text}: {warnings:?}");
        assert!(warnings[0].contains(warning), "{text}: {warnings:?}");
    }
    for far in ["x = 1", "[colours]\nprompt = 'red'"] {
        let (_, warnings) = load(&[], far, "").unwrap();
        assert!(warnings[0].ends_with(" is not a setting"), "{far}: {warnings:?}");
    }
    let (_, warnings) = load(&[("IXMCP_CHUNKSIZE", "1"), ("IXMCP_WHATEVER", "1")], "", "").unwrap();
    assert!(
        warnings.iter().any(|warning| warning.ends_with("is not a setting; the nearest is IXMCP_CHUNK_SIZE")),
        "{warnings:?}"
    );
    assert!(
        warnings.iter().any(|warning| warning.ends_with("the environment variable IXMCP_WHATEVER is not a setting")),
        "{warnings:?}"
    );
}
