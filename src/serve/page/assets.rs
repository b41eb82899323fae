//! The page's files, which are built in advance and compiled into the binary.

/// A file for the browser.
pub struct Asset {
    pub kind: &'static str,
    pub bytes: &'static [u8],
}

const FILES: &[(&str, Asset)] = &[
    ("/", Asset { kind: "text/html; charset=utf-8", bytes: include_bytes!("../ui/built/index.html") }),
    ("/page.js", Asset { kind: "text/javascript; charset=utf-8", bytes: include_bytes!("../ui/built/page.js") }),
    ("/page.css", Asset { kind: "text/css; charset=utf-8", bytes: include_bytes!("../ui/built/page.css") }),
    ("/icon.svg", Asset { kind: "image/svg+xml", bytes: include_bytes!("../ui/built/icon.svg") }),
    ("/licences.txt", Asset { kind: "text/plain; charset=utf-8", bytes: include_bytes!("../ui/built/licences.txt") }),
];

pub fn at(path: &str) -> Option<&'static Asset> {
    FILES.iter().find(|(name, _)| *name == path).map(|(_, asset)| asset)
}
