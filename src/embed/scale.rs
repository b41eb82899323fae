//! What a cosine says, model by model: unrelated texts have nothing in common for one, nearly everything for another.
//!
//! Owns a few questions with texts that answer them, by which a model's cosines are brought onto the scale of the table's as
//! long as too little of an index has a vector of the model, and texts that no index has. The former
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

/// About anything but programs, as people write it down.
const ELSEWHERE: &[&str] = &[
    "The hare sleeps by day in a shallow form among the grass and feeds at dusk. In hard winters it gnaws the bark of young trees. \
     Two or three litters are born between March and September.",
    "The committee met on Wednesday. It was agreed to mend the roof of the pavilion before the autumn and to ask three \
     builders for their price. Mr Okoro will write to the council about the drains.",
    "Cream the butter with the sugar, add the eggs one by one, then fold in the flour. Bake for forty minutes at a moderate heat and \
     leave the cake in its tin until it is cold.",
    "The seller warrants that the goods are free from defects on delivery. Claims must be made in writing within fourteen days. \
     Neither party is liable for delay caused by strikes or by the weather.",
    "Turn left behind the church and follow the stream as far as the mill. The path climbs steeply for half an hour; from the top \
     one sees both lakes. In wet weather take the road instead.",
    "He was born in Trieste in 1871 as the son of a ship's chandler, studied law without finishing, and travelled for a tea \
     company before his first novel appeared.",
    "Dear Mrs Wong, thank you for your order. Two of the chairs are out of stock until the end of the month. Shall we send the \
     table now, or everything together?",
    "Symptoms usually begin with a sore throat and a high temperature. Most patients recover within a week without treatment; rest and \
     plenty of fluids are advised.",
    "Revenue grew by four per cent to 312 million, mainly through sales in Asia. Costs of materials rose more slowly. The board \
     proposes a dividend of 1.10 a share.",
    "The match was decided in the last minute by a header from close range. Both coaches praised the goalkeepers. Next Sunday the team \
     plays away without its captain.",
    "Light that falls on a thin film is reflected at both surfaces; where the paths differ by half a wavelength the colours cancel. \
     Soap bubbles and oil on water show this.",
    "Applicants must hold a first degree and have two years of experience in teaching. Send a letter, two references and copies of \
     certificates by the tenth of June.",
    "Lot 42: an oak chest, carved front, iron hinges, seventeenth century, lid restored. Estimate 800 to 1,200. Viewing on Friday \
     from noon.",
    "Switch the heater off at the wall and let it cool before you clean the grille. Never cover it. If the red lamp flashes, call \
     the service number on the plate.",
    "Grandmother kept the letters in a biscuit box on top of the wardrobe. Nobody was allowed to read them while she lived, and \
     afterwards nobody could find the key.",
    "Monday: mathematics, geography, double art. Tuesday: swimming, so bring a towel. Wednesday: trip to the observatory, packed lunch, \
     back by five.",
];

/// Right answers must be nearer than unrelated texts by so much, or the cosines say nothing.
const LEAST: f64 = 0.05;

/// What a model's cosines are like.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    reach: Reach,
    elsewhere: Vec<Vector>,
}

/// How near texts are on an average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
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
        let reach = Reach { unrelated: mean(&unrelated), right: mean(&right) };
        if reach.right - reach.unrelated < LEAST {
            return Ok(None);
        }
        let mut elsewhere = texts;
        elsewhere.extend(model.embed(Purpose::Passage, ELSEWHERE)?);
        Ok(Some(Self { reach, elsewhere }))
    }

    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// Texts about one program and about anything else: what stands in no index.
    pub fn elsewhere(&self) -> &[Vector] {
        &self.elsewhere
    }
}

impl Reach {
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
        let table = built_in().scale().unwrap().reach();
        let other = Reach { unrelated: 0.7, right: 0.9 };
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} is not {b}");
        near(other.onto(&table, 0.7), table.unrelated);
        near(other.onto(&table, 0.9), table.right);
        near(table.onto(&table, 0.33), 0.33);
        near(other.onto(&table, 1e9), 1.0);
    }

    #[test]
    fn the_table_tells_right_from_unrelated() {
        let table = built_in().scale().unwrap().reach();
        assert!(table.unrelated < 0.15 && table.right > table.unrelated + 0.1, "{table:?}");
    }
}
