//! Patterns to ask for: picked by hand, and made at random out of the texts that are searched.

use crate::support::tree::Random;

/// One query to both programs.
#[derive(Clone, Debug)]
pub struct Asked {
    pub text: String,
    pub literal: bool,
    pub ignore_case: bool,
    pub word: bool,
    pub multiline: bool,
}

impl Asked {
    fn regex(text: impl Into<String>) -> Self {
        Self { text: text.into(), literal: false, ignore_case: false, word: false, multiline: false }
    }

    fn literal(text: impl Into<String>) -> Self {
        Self { literal: true, ..Self::regex(text) }
    }
}

const LITERALS: &[&str] = &[
    "def ",
    "return",
    "self.",
    "foo",
    "Foo",
    "FOO",
    "straße",
    "STRASSE",
    "ſtra",
    "σ",
    "ς",
    "Σ",
    "kelvin",
    "K",
    "k",
    "i",
    "I",
    "İ",
    "é",
    "e\u{301}",
    "日本",
    "🦀",
    "\t",
    " ",
    "  ",
    "\r",
    ".",
    "*",
    "+",
    "?",
    "|",
    "(",
    "[",
    "{",
    "^",
    "$",
    "\\",
    "\\n",
    "a.b*c",
    "f(g)",
    "^start",
    "end$",
    "\u{feff}",
    "\u{200b}",
    "\u{7}",
    "no line break after this",
    "word3999",
    "#",
    "//",
    "\u{a0}",
    "\u{2028}",
    "ﬀ",
    "Ǆ",
    "ж",
    "import",
    "=>",
    "->",
    "};",
    "zzz nowhere zzz",
];

const REGEXES: &[&str] = &[
    // Anchors and empty matches.
    "^",
    "$",
    "^$",
    r"\A",
    r"\z",
    r"\A\z",
    r"^\s*$",
    r"^.",
    r".$",
    r"^\s",
    r"\s$",
    "x*",
    "(?:)",
    "a*?",
    "()",
    "^|x",
    "$|x",
    "(?m)^",
    "(?-m)^",
    "(?-m)$",
    "(?-m)^foo$",
    r"\Afoo\z",
    "^foo$",
    "^^foo",
    "foo$$",
    "^*",
    r"\b",
    r"\B",
    r"\b\b",
    r"^\b",
    r"\B$",
    r"^$|foo",
    r"\b{start}foo",
    r"foo\b{end}",
    r"\b{start-half}foo",
    // Line ends.
    r"\r",
    r"\r$",
    "one$",
    r"one\r$",
    r"one.$",
    r"\r?$",
    r"[\r\n]",
    r"[^\n]",
    r"[^\r]",
    r"\s+$",
    r"(?R)one$",
    r"(?R)^$",
    r"a\s+b",
    r"\{\s",
    r"\s\}",
    r"[^x]\}",
    r"\)\s*\{",
    r"\W+foo",
    r"(?s).",
    r"(?s:.)x",
    r"[\s\S]",
    r"[\s\S]+foo",
    r"[^a]*$",
    r"\D\z",
    r"[[:space:]]",
    r"[[:^space:]]",
    r"\PL",
    r"[^\w]+$",
    r"(?s)^.*$",
    r"\n",
    r"a\nb",
    r"\n*",
    r"x|\n",
    r"\x0a",
    // Classes.
    r"\w+",
    r"\W",
    r"\d+",
    r"\D+",
    r"\s",
    r"\S",
    ".",
    "[a-z]+",
    "[^a-z]+",
    "[A-Za-z_][A-Za-z0-9_]*",
    r"[\w&&[^\d]]+",
    r"[a-z--[aeiou]]{3}",
    r"[a-g~~b-h]",
    "[]a]",
    "[^]a]",
    "[-a]",
    "[a-]",
    r"[\]\[]",
    "[[:alpha:]]+",
    "[[:^alpha:]]",
    r"\p{Lu}\p{Ll}",
    r"\p{Greek}+",
    r"\p{Han}",
    r"\p{Cyrillic}",
    r"\pL\pN",
    r"\p{Emoji}",
    r"\p{M}",
    r"[^\p{ASCII}]",
    r"\P{ASCII}",
    r"[à-ÿ]",
    r"[Ͱ-Ͽ]",
    r"[\u{1F980}]",
    r"\u{e9}",
    r"\x41",
    r"\x{2028}",
    r"\u00a0",
    r"\a",
    r"\x1b",
    r"\f",
    r"\v",
    r"\t",
    // Case.
    "(?i)straße",
    "(?i)STRASSE",
    "(?i)kelvin",
    "(?i)k",
    "(?i)s",
    "(?i)σ",
    "(?i)ı",
    "(?i)İ",
    "(?i)[k-m]",
    "(?i:def) ",
    "(?i)(?-i:F)oo",
    "(?i)ﬀ",
    "(?i)ǆ",
    "(?i)жук",
    r"(?i)\x41",
    "(?i)[^k]elvin",
    "(?i-u)kelvin",
    "(?i)RETURN",
    // Bytes and ASCII alone.
    r"(?-u)\w+",
    r"(?-u:\b)foo",
    r"(?-u)\xc3",
    r"(?-u)\xff",
    r"(?-u:[^a])",
    r"(?-u:.)",
    r"(?-u:\xe6)\S",
    r"(?-u)\xa9",
    r"foo(?-u:\B)",
    r"(?-u:\W)$",
    r"(?-u)[\x80-\xff]+",
    r"(?-u:\xc3\xa9)",
    // Repetition, choice, groups.
    "a{3}",
    "a{2,}",
    "a{0}",
    "a{0,1}b",
    "(ab)+",
    "(ab){2,3}",
    "(?:ab)*$",
    "a+?",
    "a*?b",
    "a??b",
    "foo|bar",
    "foo|",
    "|foo",
    "(foo|bar)(foo|bar)",
    "(?P<n>foo)",
    "(?<n>foo)bar",
    "((((foo))))",
    "(a|b|c|d|e)+f",
    "foo.*bar",
    "foo.*?bar",
    "f.o",
    "f..",
    "(?:import|from|use|include) ",
    "class|struct|interface",
    "[a-z]{8,}",
    r"\w{12,}",
    r"\b\w{3}\b",
    r"(\w)(\w)",
    r"\w+\s*=\s*\w+",
    r"(?x) foo # a comment",
    r"(?x) f o o",
    r"(?U)a+",
    "(?i:a)b",
    r"\(\w+\)",
    r#""[^"]*""#,
    r"'(?:[^'\\]|\\.)*'",
    r"\$\w+",
    r"\{\}",
    "word[0-9]+ word39[0-9]{2}",
    "before|after",
    r"word3999\b.*",
    r"^word0 ",
    // What both refuse, or what ripgrep's default engine refuses.
    "(",
    "[",
    "a**",
    r"\1",
    "(?=x)",
    "(?<!x)y",
    "*",
    "{",
    "a{2",
    r"\q",
    r"\p{Nothing}",
    "(?z)",
    "[z-a]",
    "a{2,1}",
];

const MULTILINE: &[&str] = &[
    r"\n",
    r"\n\n",
    r"\n\n\n",
    r"\r\n",
    r"\r\n\r\n",
    r"foo\n",
    r"\nfoo",
    r"\n\s*\}",
    r"\{\n",
    r"\{\s*\n\s*\w+",
    r"a\s+b",
    r"(?s)two.*three",
    r"(?s)def.*?return",
    r"(?s).",
    r"(?s).+",
    r"(?s).*",
    r"(?s)\A.",
    r"(?s).\z",
    r"\A",
    r"\z",
    r"^$",
    r"^\n",
    r"\n$",
    r"\n^",
    r"$\n^",
    r"x*",
    r"\s+",
    r"\s+$",
    r"^\s+",
    r"[^a]+",
    r"[^\n]+\n[^\n]+",
    r"\w+\n\w+",
    r"(?m)^\}$",
    r"(?-m)^.",
    r"(?-m).$",
    r"(?-m)\n$",
    r"\n\z",
    r"\A\n",
    r"end\n?",
    r"(\w+\n){3}",
    r"(?:.*\n){4}",
    r"import.*\n.*import",
    r"\}\n\}",
    r"\}\n\n\}",
    r"(?s)/\*.*?\*/",
    r#"(?s)""".*?""""#,
    r"\n*",
    r"x|\n",
    r"(?R)$\r?\n",
    r"\b\n\b",
    r"\B\n",
    r"(?i)UNIX\nDOS",
    r"two two\r\n\r\n",
    r"ab\nba",
    r"ab\n",
    r"\n.*\n.*word\d+",
    r"",
    "a\nb",
    "}\n\n}",
];

/// Every picked pattern, with each option that could matter to it.
pub fn by_hand() -> Vec<Asked> {
    let mut all = Vec::new();
    for text in LITERALS {
        let one = Asked::literal(*text);
        all.push(Asked { ignore_case: true, ..one.clone() });
        all.push(Asked { word: true, ..one.clone() });
        all.push(Asked { multiline: true, ..one.clone() });
        all.push(one);
    }
    for text in REGEXES {
        let one = Asked::regex(*text);
        all.push(Asked { ignore_case: true, ..one.clone() });
        all.push(Asked { word: true, ..one.clone() });
        all.push(Asked { multiline: true, ..one.clone() });
        all.push(one);
    }
    for text in MULTILINE.iter().filter(|text| !text.is_empty()) {
        let one = Asked { multiline: true, ..Asked::regex(*text) };
        all.push(Asked { ignore_case: true, ..one.clone() });
        all.push(one);
    }
    all.retain(equivalent_by_intent);
    all
}

/// Known differences, each with its reason.
fn equivalent_by_intent(asked: &Asked) -> bool {
    // Whole words. Before version 14 ripgrep asked for a non-letter on each side and consumed it; now it looks
    // at the sides, as we do. Both agree on patterns that begin and end with a letter of a word, whatever is around.
    let plain = |c: char| c.is_alphanumeric() || c == '_';
    if asked.word {
        return asked.literal
            && asked.text.starts_with(plain)
            && asked.text.ends_with(plain)
            && asked.text.chars().all(|c| plain(c) || c == ' ');
    }
    true
}

/// Makes patterns without end.
pub struct Maker<'t> {
    random: Random,
    texts: &'t [String],
}

impl<'t> Maker<'t> {
    pub fn new(seed: u64, texts: &'t [String]) -> Self {
        assert!(texts.iter().any(|text| text.len() > 100));
        Self { random: Random(seed), texts }
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.random.below(count) == 0
    }

    fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.random.below(count as u64)).unwrap()
    }

    /// Some letters as they are in a text: of one line, unless `across`.
    fn cut(&mut self, most: usize, across: bool) -> String {
        loop {
            let text = self.random.pick(self.texts);
            if text.is_empty() {
                continue;
            }
            let start = text.floor_char_boundary(self.below(text.len()));
            let count = 1 + self.below(most);
            let cut: String = text[start..].chars().take(count).take_while(|c| across || *c != '\n').collect();
            if !cut.is_empty() {
                return cut;
            }
        }
    }

    /// A word as it is in a text.
    fn word(&mut self) -> String {
        loop {
            let near = self.cut(60, false);
            let words: Vec<&str> =
                near.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
            if !words.is_empty() {
                return (*self.random.pick(&words)).to_owned();
            }
        }
    }

    fn atom(&mut self, depth: u32) -> String {
        const ATOMS: &[&str] = &[
            ".",
            r"\w",
            r"\d",
            r"\s",
            r"\S",
            r"\W",
            r"\D",
            "[a-f]",
            "[^a-f]",
            "[[:alpha:]]",
            r"\p{Lu}",
            r"\pL",
            r"[\w.]",
            r"[^\s]",
            r"[\w&&[^\d]]",
            "[à-ÿ]",
            r"(?i:e)",
            r"(?s:.)",
            r"\t",
            " ",
            r"[^\r]",
            "[0-9A-Fa-f]",
            r"[(){}]",
            r"(?-u:\w)",
            r"[^\x00-\x7f]",
        ];
        const EDGES: &[&str] = &["^", "$", r"\b", r"\B", r"\A", r"\z", "(?-m:^)", "(?-m:$)", r"(?-u:\b)"];
        match self.random.below(12) {
            0..=4 => escaped(&self.cut(6, false)),
            5 => escaped(&self.word()),
            6 | 7 => (*self.random.pick(ATOMS)).to_owned(),
            8 => (*self.random.pick(EDGES)).to_owned(),
            9 | 10 if depth > 0 => format!("({})", self.choice(depth - 1)),
            _ if depth > 0 => format!("(?i:{})", self.choice(depth - 1)),
            _ => escaped(&self.cut(2, false)),
        }
    }

    fn piece(&mut self, depth: u32) -> String {
        const COUNTS: &[&str] = &["*", "+", "?", "{2}", "{1,3}", "{0,2}", "*?", "+?", "??", "{2,}?"];
        let atom = self.atom(depth);
        if !self.one_in(4) {
            return atom;
        }
        let count = *self.random.pick(COUNTS);
        format!("(?:{atom}){count}")
    }

    fn choice(&mut self, depth: u32) -> String {
        let ways = if self.one_in(5) { 2 + self.below(2) } else { 1 };
        let ways: Vec<String> = (0..ways)
            .map(|_| {
                let pieces = 1 + self.below(4);
                (0..pieces).map(|_| self.piece(depth)).collect()
            })
            .collect();
        ways.join("|")
    }
}

fn escaped(text: &str) -> String {
    regex_syntax::escape(text)
}

impl Iterator for Maker<'_> {
    type Item = Asked;

    fn next(&mut self) -> Option<Asked> {
        loop {
            let multiline = self.one_in(5);
            let mut asked = match self.random.below(10) {
                0..=2 => Asked::literal(self.cut(30, multiline)),
                3 => Asked { word: true, ..Asked::literal(self.word()) },
                4 => Asked::literal(self.word()),
                _ => {
                    let mut text = self.choice(2);
                    if multiline && self.one_in(2) {
                        text = format!(
                            "{text}{}{}",
                            [r"\n", r"\s+", r"\n\s*", r"(?s:.)*?"][self.below(4)],
                            self.choice(1)
                        );
                    }
                    Asked::regex(text)
                }
            };
            asked.multiline = multiline;
            asked.ignore_case = self.one_in(3);
            if equivalent_by_intent(&asked) {
                return Some(asked);
            }
        }
    }
}
