//! Makes cosine similarities of different models comparable: for one model unrelated texts have a similarity near 0, for
//! another near 1.
//!
//! Owns two sets of texts. The first pairs queries with the texts that answer them. They map a model's cosines to the scale
//! of the static embeddings while too few chunks of an index have a vector of the model. They are all about one program,
//! like the texts of a repository: a model considers two texts about the same program more similar than texts about
//! different subjects, and by how much differs between models. The second set is background text that no index contains.
//! No text of either set is in a set that anything was tuned on or is evaluated with.

use super::{Embedder, Purpose, Vector};
use crate::error::Result;

/// Queries and their answers: each text answers its own query and no other.
const ANSWERED_QUERIES: &[(&str, &str)] = &[
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

/// Texts about other subjects than programs.
const BACKGROUND: &[&str] = &[
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

/// How much more similar answers must be than unrelated texts. A model below that cannot be calibrated.
const MIN_SEPARATION: f64 = 0.05;

/// A model's typical similarities, by which its scores are calibrated.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    levels: SimilarityLevels,
    background: Vec<Vector>,
}

/// A model's mean cosine similarities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimilarityLevels {
    /// Similarity of queries to texts that do not answer them.
    unrelated: f64,
    /// Similarity of queries to their answers.
    right: f64,
}

impl Calibration {
    /// `None` for a model that cannot distinguish answers from unrelated texts.
    pub(super) fn measure(model: &dyn Embedder) -> Result<Option<Self>> {
        let (queries, texts): (Vec<&str>, Vec<&str>) = ANSWERED_QUERIES.iter().copied().unzip();
        let queries = model.embed(Purpose::Query, &queries)?;
        let texts = model.embed(Purpose::Passage, &texts)?;
        let cosine = |a: &Vector, b: &Vector| f64::from(a.cosine(b));
        let mean = |cosines: &[f64]| {
            #[expect(clippy::cast_precision_loss, reason = "some hundred")]
            let count = cosines.len().max(1) as f64;
            cosines.iter().sum::<f64>() / count
        };
        let right: Vec<f64> = queries.iter().zip(&texts).map(|(query, text)| cosine(query, text)).collect();
        let mut unrelated = Vec::new();
        for (at, query) in queries.iter().enumerate() {
            let others = texts.iter().enumerate().filter(|(other, _)| *other != at);
            unrelated.extend(others.map(|(_, text)| cosine(query, text)));
        }
        let levels = SimilarityLevels { unrelated: mean(&unrelated), right: mean(&right) };
        if levels.right - levels.unrelated < MIN_SEPARATION {
            return Ok(None);
        }
        let mut background = texts;
        background.extend(model.embed(Purpose::Passage, BACKGROUND)?);
        Ok(Some(Self { levels, background }))
    }

    pub fn levels(&self) -> SimilarityLevels {
        self.levels
    }

    /// Vectors of texts that no index contains: about one program, and about other subjects.
    pub fn background(&self) -> &[Vector] {
        &self.background
    }
}

impl SimilarityLevels {
    /// Maps a cosine of this model to the scale of another.
    pub fn map_to(&self, other: &Self, cosine: f64) -> f64 {
        let share = (cosine - self.unrelated) / (self.right - self.unrelated);
        (other.unrelated + share * (other.right - other.unrelated)).clamp(-1.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::built_in;

    #[test]
    fn mapped_levels_correspond() {
        let static_levels = built_in().calibration().unwrap().levels();
        let other = SimilarityLevels { unrelated: 0.7, right: 0.9 };
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} is not {b}");
        near(other.map_to(&static_levels, 0.7), static_levels.unrelated);
        near(other.map_to(&static_levels, 0.9), static_levels.right);
        near(static_levels.map_to(&static_levels, 0.33), 0.33);
        near(other.map_to(&static_levels, 1e9), 1.0);
    }

    #[test]
    fn static_embeddings_distinguish_answers_from_unrelated_texts() {
        let levels = built_in().calibration().unwrap().levels();
        assert!(levels.unrelated < 0.15 && levels.right > levels.unrelated + 0.1, "{levels:?}");
    }
}
