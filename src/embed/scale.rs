//! What a cosine says, model by model: unrelated texts have nothing in common for one, nearly everything for another.
//!
//! Owns a few questions with texts that answer them, by which a model's cosines are brought onto the scale of the table's. All
//! are about one program, as the texts of a repository are: a model finds two of its texts nearer to each other than a soup
//! to a circle, and by how much is each model's own. None of them is in a set that anything was fitted to or is judged by.

use super::{Embedder, Purpose, Vector};
use crate::error::Result;

/// Each text answers its question and no other.
const KNOWN: &[(&str, &str)] = &[
    (
        "Returns the uncompressed size of an entry.",
        "    pub fn len(&self) -> u64 {\n        match self.header.extra(ZIP64) {\n            Some(field) => \
         field.original,\n            None => u64::from(self.header.original),\n        }\n    }\n",
    ),
    (
        "where are checksums compared when a file is read",
        "def read(self, member):\n    data = self.codec.expand(self.stream.take(member.packed_size))\n    if \
         crc32(data) != member.crc:\n        raise Damaged(f'{member.name}: bad checksum')\n    return data\n",
    ),
    (
        "refuse paths that lead out of the target folder",
        "func safeJoin(root, name string) (string, error) {\n\tpath := filepath.Join(root, \
         filepath.FromSlash(name))\n\tif !strings.HasPrefix(path, root+string(filepath.Separator)) {\n\t\treturn \
         \"\", fmt.Errorf(\"%s: leaves %s\", name, root)\n\t}\n\treturn path, nil\n}\n",
    ),
    (
        "Opens an archive for appending.",
        "def append_to(path, mode='r+b'):\n    file = open(path, mode)\n    directory = find_directory(file)\n    \
         file.seek(directory.offset)\n    return Writer(file, known=directory.entries)\n",
    ),
    (
        "how is the end of the central directory found",
        "static int64_t locate_end(struct reader *in) {\n    int64_t at = in->size - END_SIZE;\n    for (; at >= 0 \
         && in->size - at < MAX_COMMENT; at--)\n        if (read32(in, at) == END_SIGNATURE)\n            return \
         at;\n    return -1;\n}\n",
    ),
    (
        "use all cores while compressing",
        "let blocks: Vec<Block> = input\n    .par_chunks(BLOCK_SIZE)\n    .map(|chunk| Block { raw: chunk.len(), \
         packed: deflate(chunk, level) })\n    .collect();\nwrite_blocks(output, &blocks)\n",
    ),
    (
        "Lists the names of all entries in order.",
        "  entries(): string[] {\n    return [...this.directory.values()]\n      .sort((a, b) => a.offset - \
         b.offset)\n      .map(entry => entry.name);\n  }\n",
    ),
    (
        "ask for the password of an encrypted archive",
        "private byte[] keyOf(Entry entry, Supplier<char[]> prompt) {\n    if (!entry.isEncrypted()) return \
         null;\n    char[] secret = prompt.get();\n    return Pbkdf2.derive(secret, entry.salt(), ROUNDS);\n}\n",
    ),
    (
        "a bomb of nested archives fills the memory",
        "if (depth > limits.depth || written > limits.ratio * packed) {\n    throw new \
         TooLarge(entry.name);\n}\nfor await (const part of expand(entry)) written += part.length;\n",
    ),
    (
        "Sets the time at which a file was changed.",
        "fn restore_times(path: &Path, header: &Header) -> io::Result<()> {\n    let changed = \
         header.unix_time().unwrap_or_else(|| dos_time(header.date, header.time));\n    \
         filetime::set_file_mtime(path, changed)\n}\n",
    ),
    (
        "which formats can be unpacked",
        "## Supported archives\n\nzip, tar, tar.gz, tar.xz and 7z are read. Only zip and tar are written. Split \
         archives and self-extracting programs are recognised and refused.",
    ),
    (
        "make the result smaller",
        "A higher `level` takes longer and saves more; beyond 6 little is gained with text. Pictures and films are \
         packed already: list their endings in `store` to copy them as they are.",
    ),
    (
        "names of files come out garbled",
        "Old programs wrote entry names in the code page of their machine. Give `encoding=\"cp850\"` when the \
         archive does not say that it holds UTF-8.",
    ),
    (
        "only unpack some of the files",
        "# Choosing entries\n\nGive patterns after the archive: `pack x photos.zip '2019/*.jpg'`. A pattern without \
         a slash fits in any folder; `-x` leaves out what it fits.",
    ),
    (
        "what does the progress bar count",
        "Bytes read from the archive, not bytes written to the disk: the latter are known only at the end. With \
         several archives the bar begins anew for each of them.",
    ),
    (
        "links are followed when packing",
        "class Walk:\n    def __init__(self, root, dereference=False):\n        self.stat = os.stat if dereference \
         else os.lstat\n\n    def add(self, path):\n        kind = stat.S_IFMT(self.stat(path).st_mode)\n",
    ),
];

/// Right answers must be nearer than unrelated texts by so much, or the cosines say nothing.
const LEAST: f64 = 0.05;

/// How near texts are on an average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    unrelated: f64,
    right: f64,
}

impl Scale {
    /// `None` for a model that cannot tell the right ones from the others.
    pub(super) fn of(model: &dyn Embedder) -> Result<Option<Self>> {
        let (questions, texts): (Vec<&str>, Vec<&str>) = KNOWN.iter().copied().unzip();
        let questions = model.embed(Purpose::Question, &questions)?;
        let texts = model.embed(Purpose::Passage, &texts)?;
        let cosine = |a: &Vector, b: &Vector| f64::from(a.cosine(b));
        let mean = |cosines: &[f64]| {
            #[expect(clippy::cast_precision_loss, reason = "some hundred")]
            let count = cosines.len().max(1) as f64;
            cosines.iter().sum::<f64>() / count
        };
        let right: Vec<f64> = questions.iter().zip(&texts).map(|(question, text)| cosine(question, text)).collect();
        let mut unrelated = Vec::new();
        for (at, question) in questions.iter().enumerate() {
            let others = texts.iter().enumerate().filter(|(other, _)| *other != at);
            unrelated.extend(others.map(|(_, text)| cosine(question, text)));
        }
        let scale = Self { unrelated: mean(&unrelated), right: mean(&right) };
        Ok(Some(scale).filter(|scale| scale.right - scale.unrelated >= LEAST))
    }

    /// What a cosine of this scale is on another.
    pub fn onto(&self, other: &Self, cosine: f64) -> f64 {
        let share = (cosine - self.unrelated) / (self.right - self.unrelated);
        (other.unrelated + share * (other.right - other.unrelated)).clamp(-1.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::built_in;

    #[test]
    fn what_is_as_far_from_one_is_as_far_from_the_other() {
        let table = built_in().scale().unwrap();
        let other = Scale { unrelated: 0.7, right: 0.9 };
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} is not {b}");
        near(other.onto(&table, 0.7), table.unrelated);
        near(other.onto(&table, 0.9), table.right);
        near(table.onto(&table, 0.33), 0.33);
        near(other.onto(&table, 1e9), 1.0);
    }

    #[test]
    fn the_table_tells_right_from_unrelated() {
        let table = built_in().scale().unwrap();
        assert!(table.unrelated < 0.15 && table.right > table.unrelated + 0.1, "{table:?}");
    }
}
