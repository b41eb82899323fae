//! Stop words: articles, prepositions, pronouns, forms of "to be".
//!
//! Owns the list for each language. The static embeddings and the ranking were tuned on English, so English stop words
//! always count. Stop words of another language count only if a query has several, and more than English ones: `der` is
//! also a term of cryptography, and `die` one of processes.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::words;

const ENGLISH: &[&str] = &[
    "a", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do", "does", "for",
    "from", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "may", "me", "must", "my", "no",
    "not", "of", "on", "or", "our", "out", "over", "should", "so", "some", "such", "than", "that", "the", "their",
    "them", "then", "there", "these", "they", "this", "those", "to", "up", "us", "was", "we", "were", "what", "when",
    "where", "which", "while", "who", "why", "will", "with", "would", "you", "your",
];

/// The most frequent ones, a language a line.
const OTHERS: &[&str] = &[
    "der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine keinen ist sind war waren wird \
     werden wurde wurden hat haben hatte wie was wer wem wen wo wann warum wieso welche welcher welches welchen ich du er sie \
     es wir ihr mich mir sich mein meine meinen sein seine ihre unser unsere mit von vom zu zum zur bei beim nach aus auf an \
     am im in ins für über unter vor um durch gegen ohne bis als auch noch nur so wenn dass ob man kann können muss müssen \
     soll sollte darf dann da hier gibt geht tun",
    "le la les un une des de du et ou mais ne pas plus est sont était étaient a ont avoir être fait faire qui que quoi quel \
     quelle quels quelles comment où quand pourquoi combien je tu il elle on nous vous ils elles me te se mon ma mes son sa \
     ses notre nos votre vos leur leurs ce cet cette ces dans en sur sous avec sans pour par chez vers entre au aux y si \
     comme peut dois doit faut",
    "el la los las un una unos unas de del y o pero no es son era fue ha han hay ser estar está cómo como qué que quién cuál \
     cuáles dónde cuándo cuánto cuánta por para con sin sobre en a al se su sus mi mis tu yo nos le les lo me te si más muy \
     este esta estos estas ese esa puede debe",
    "il lo la i gli le un uno una di del della dei degli delle dello da dal dalla in nel nella con su sul sulla per tra fra e \
     o ma non è sono era ha hanno come che cosa chi quale quali dove quando quanto perché si mi ti ci vi mio mia suo sua \
     questo questa quello quella può deve al alla ai",
    "o a os as um uma de do da dos das em no na nos nas por para com sem sobre e ou mas não é são foi tem como que quem qual \
     quais onde quando quanto porque se eu ele ela meu minha seu sua este esta isso pode deve ao aos pelo pela",
    "de het een en of maar niet geen is zijn was waren wordt worden heeft hebben hoe wat wie waar wanneer waarom welke ik je \
     jij hij zij we wij ze mijn jouw haar ons onze met van voor naar bij uit op aan in om door over onder als dan dat die \
     dit deze er ook nog kan moet mag te",
    "och eller men inte en ett den det de som är var har hade hur vad vem när varför vilken vilka jag du han hon vi ni min \
     din sin med av för till från på i om vid efter under över kan ska måste att",
    "og eller men ikke en et den det de som er var har havde hadde hvordan hvad hva hvem hvor hvornår når hvorfor jeg du han \
     hun vi min din sin med af av for til fra på i om ved efter etter under over kan skal må at",
    "i w z na do nie to jest są był była jak co kto gdzie kiedy dlaczego ile czy się że o od po za dla przez przy lub ale \
     oraz mój moja ten ta te może trzeba",
    "и в на с не что это как кто где когда почему сколько какой какая какие ли я ты он она мы вы они мой моя свой для из к \
     по за от до у о но или бы же был была есть можно нужно со во",
];

/// Words of [`OTHERS`] that people look for by themselves, too: words of English, of programs and of their code, short
/// names.
const SEARCHED_ALONE: &[&str] = &[
    "ai", "al", "ale", "als", "am", "ao", "ar", "att", "au", "aux", "av", "bis", "chi", "ci", "co", "com", "come",
    "con", "da", "dal", "das", "dan", "dat", "del", "den", "der", "des", "det", "di", "die", "din", "dit", "door",
    "dos", "dove", "du", "el", "em", "en", "er", "era", "es", "est", "et", "eu", "fait", "fra", "fue", "ha", "haar",
    "han", "har", "hat", "hay", "het", "hoe", "il", "im", "jest", "kan", "la", "le", "les", "lo", "los", "lub", "ma",
    "mag", "man", "med", "men", "mes", "met", "mi", "min", "mir", "mis", "mit", "mon", "na", "nas", "ne", "ni", "nos",
    "od", "om", "op", "os", "par", "para", "pas", "plus", "po", "pour", "qui", "sa", "sans", "se", "sem", "ser", "ses",
    "si", "sin", "som", "son", "su", "sur", "te", "tem", "ten", "ti", "til", "till", "tun", "uit", "um", "un", "una",
    "under", "van", "var", "vers", "vi", "vid", "war", "wo", "za",
];

/// Function words of another language than English that make a query one of that language.
const MIN_FUNCTION_WORDS: usize = 2;

/// By word, in lowercase without accents: a bit for each of [`OTHERS`] that has it.
static LANGUAGES: LazyLock<HashMap<String, u16>> = LazyLock::new(|| {
    let mut languages: HashMap<String, u16> = HashMap::new();
    for (at, list) in OTHERS.iter().enumerate() {
        for word in list.split_whitespace() {
            *languages.entry(words::plain(word).into_owned()).or_default() |= 1 << at;
        }
    }
    languages
});

/// Whether a query with other words means nothing by this one, in lowercase.
pub fn says_nothing(word: &str) -> bool {
    ENGLISH.contains(&word)
}

/// Whether a query's only word says nothing: there is no other word to recognize its language by, and the other
/// meanings of the word are in a list.
pub(super) fn says_nothing_alone(word: &str) -> bool {
    LANGUAGES.contains_key(word) && !SEARCHED_ALONE.contains(&word)
}

/// The language of a query, as far as that matters here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Language(u16);

impl Language {
    /// Recognizes the language by a query's words, in lowercase without accents.
    pub fn recognize<'w>(words: impl Iterator<Item = &'w str>) -> Self {
        let (mut english, mut others) = (0, [0_usize; OTHERS.len()]);
        for word in words {
            english += usize::from(says_nothing(word));
            let set = LANGUAGES.get(word).copied().unwrap_or_default();
            others.iter_mut().enumerate().for_each(|(at, count)| *count += usize::from(set >> at & 1 == 1));
        }
        let most = others.into_iter().max().unwrap_or_default();
        if most < MIN_FUNCTION_WORDS.max(english + 1) {
            return Self::default();
        }
        // Neighbours share many: those of all that fit as well.
        Self(others.iter().enumerate().fold(0, |set, (at, &count)| set | u16::from(count == most) << at))
    }

    /// Whether a word of it means nothing, where it is not English.
    pub fn is_filled_by(self, word: &str) -> bool {
        self.0 != 0 && LANGUAGES.get(word).is_some_and(|languages| languages & self.0 != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(query: &str) -> String {
        let plain = words::plain(query).to_lowercase();
        let words: Vec<&str> = words::tokens(&plain).collect();
        let language = Language::recognize(words.iter().copied());
        let kept = words.iter().filter(|word| !language.is_filled_by(word));
        kept.copied().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn queries_in_other_languages_are_recognized_by_their_function_words() {
        for (query, expected) in [
            ("Die Schlacht bei Waterloo", "schlacht waterloo"),
            ("Wer hat die Relativitätstheorie entdeckt?", "relativitatstheorie entdeckt"),
            ("le moteur de la fusée", "moteur fusee"),
            ("¿Cuál es la capital de Argentina?", "capital argentina"),
            ("hoe kan ik een account aanmaken", "account aanmaken"),
            ("как посадить картофель на даче", "посадить картофель даче"),
            ("jak się robi chleb", "robi chleb"),
        ] {
            assert_eq!(left(query), expected);
        }
    }

    #[test]
    fn one_function_word_is_not_a_query_unless_it_is_a_noun_too() {
        for word in ["und", "oder", "nicht", "avec", "dans", "och", "jak", "что", "porque", "perche", "fur", "ist"] {
            assert!(says_nothing_alone(word), "{word}");
        }
        for word in ["des", "der", "min", "sin", "var", "jest", "die", "os", "vi", "mit", "bees", "the", ""] {
            assert!(!says_nothing_alone(word), "{word}");
        }
        let known = |word: &&&str| LANGUAGES.contains_key(**word) && !ENGLISH.contains(word);
        assert_eq!(SEARCHED_ALONE.iter().filter(|word| !known(word)).collect::<Vec<_>>(), Vec::<&&str>::new());
    }

    #[test]
    fn words_of_code_that_another_language_has_too_stay() {
        for query in [
            "der encode",
            "die on error",
            "des key schedule",
            "what was the die in",
            "un register",
            "les",
            "how do i do a no op",
            "async def main",
            "es module loader",
        ] {
            assert_eq!(left(query), query);
        }
    }
}
