//! Token formats of services, and the checks that separate tokens from similar text.
//!
//! Every pattern starts with a literal prefix, so that one pass with a prefilter finds all of them.

use std::ops::Range;
use std::sync::LazyLock;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;

/// A token format. The token is the first group of the pattern, or the whole match.
struct Rule {
    pattern: &'static str,
    proof: Proof,
}

/// The property that separates a real token from an invented one.
#[derive(Clone, Copy)]
enum Proof {
    /// The last six characters are the CRC-32 of the thirty before them, in base 62.
    Checksum,
    /// The minimum number of bits per character.
    Entropy(f64),
    /// The first part is a JSON object that names an algorithm.
    Header,
}

const fn rule(pattern: &'static str, proof: Proof) -> Rule {
    Rule { pattern, proof }
}

use Proof::{Checksum, Entropy, Header};

static RULES: &[Rule] = &[
    // GitHub, npm.
    rule(r"\bgh[pousr]_[A-Za-z0-9]{36}\b", Checksum),
    rule(r"\bghs_[0-9]+_eyJ[A-Za-z0-9_.-]{60,}", Entropy(3.5)),
    rule(r"\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b", Entropy(3.5)),
    rule(r"\bnpm_[A-Za-z0-9]{36}\b", Checksum),
    // GitLab.
    rule(r"\bgl(?:pat|dt|rt|ptt|ft|imt|agent|oas|cbt|soat)-[A-Za-z0-9_-]{20,300}", Entropy(3.0)),
    // AWS: a key id by its prefix, a key by the name it is assigned to.
    rule(r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b", Entropy(3.0)),
    rule(
        r#"(?:aws_secret_access_key|AWS_SECRET_ACCESS_KEY|SecretAccessKey|secretAccessKey|aws_secret_key)["']?[ \t]{0,4}[:=][ \t]{0,4}["']?([A-Za-z0-9/+]{40})\b"#,
        Entropy(4.0),
    ),
    // Google.
    rule(r"\bAIza[A-Za-z0-9_-]{35}", Entropy(3.5)),
    rule(r"\bGOCSPX-[A-Za-z0-9_-]{28}", Entropy(3.5)),
    rule(r"\bya29\.[A-Za-z0-9_-]{30,}", Entropy(3.5)),
    // Azure.
    rule(r"AccountKey=([A-Za-z0-9+/]{86}==)", Entropy(4.0)),
    rule(r"SharedAccessKey=([A-Za-z0-9+/]{43}=)", Entropy(4.0)),
    // Chat services and their webhooks.
    rule(r"\bxox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,250}", Entropy(3.0)),
    rule(r"\bxapp-[0-9]-[A-Z0-9]{8,}-[0-9]{10,}-[a-z0-9]{32,}", Entropy(3.0)),
    rule(r"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9+/]{40,80})", Entropy(3.5)),
    rule(r"discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/([A-Za-z0-9_-]{60,})", Entropy(3.5)),
    rule(r":(AA[A-Za-z0-9_-]{33})\b", Entropy(3.8)),
    // Payments and shops.
    rule(r"\b[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,247}\b", Entropy(3.0)),
    rule(r"\bwhsec_[A-Za-z0-9+/]{32,}={0,2}", Entropy(3.5)),
    rule(r"\bsq0(?:atp|csp)-[A-Za-z0-9_-]{22,43}", Entropy(3.5)),
    rule(r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b", Entropy(3.0)),
    // Package registries.
    rule(r"\bpypi-AgE(?:IcHlwaS5vcmc|NdGVzdC5weXBpLm9yZw)[A-Za-z0-9_-]{50,}", Entropy(3.5)),
    rule(r"\bcio[A-Za-z0-9]{32}\b", Entropy(4.0)),
    rule(r"\brubygems_[a-f0-9]{48}\b", Entropy(3.0)),
    rule(r"\bdckr_[po]at_[A-Za-z0-9_-]{27,}", Entropy(3.5)),
    rule(r"\boy2[a-z0-9]{43}\b", Entropy(4.0)),
    // Model providers.
    rule(r"\bsk-ant-(?:api|admin|oat)[0-9]{2}-[A-Za-z0-9_-]{80,}", Entropy(3.5)),
    rule(r"\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,}", Entropy(3.5)),
    rule(r"\bsk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}\b", Entropy(3.5)),
    rule(r"\bhf_[A-Za-z]{34}\b", Entropy(3.5)),
    rule(r"\bgsk_[A-Za-z0-9]{52}\b", Entropy(3.5)),
    rule(r"\br8_[A-Za-z0-9]{37}\b", Entropy(3.5)),
    // Clouds and developer tools.
    rule(r"\bdo[opr]_v1_[a-f0-9]{64}\b", Entropy(3.0)),
    rule(r"\bhv[sbr]\.[A-Za-z0-9_-]{24,}", Entropy(3.5)),
    rule(r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9]{40,44}\b", Entropy(3.5)),
    rule(r"\bdapi[a-f0-9]{32}\b", Entropy(3.0)),
    rule(r"\bglsa_[A-Za-z0-9]{32}_[a-f0-9]{8}\b", Entropy(3.5)),
    rule(r"\bglc_eyJ[A-Za-z0-9+/]{60,}={0,2}", Entropy(3.5)),
    rule(r"\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}\b", Entropy(3.0)),
    rule(r"\bNRAK-[A-Z0-9]{27}\b", Entropy(3.0)),
    rule(r"\bsntry[us]_[A-Za-z0-9+/=_-]{60,}", Entropy(3.0)),
    rule(r"\bsbp_[a-f0-9]{40}\b", Entropy(3.0)),
    rule(r"\bpscale_(?:tkn|oauth|pw)_[A-Za-z0-9=_.-]{32,64}", Entropy(3.5)),
    rule(r"\blin_(?:api|oauth)_[A-Za-z0-9]{40,64}\b", Entropy(3.5)),
    rule(r"\bntn_[0-9]{11}[A-Za-z0-9]{35}\b", Entropy(3.5)),
    rule(r"\bfigd_[A-Za-z0-9_-]{40,}", Entropy(3.5)),
    rule(r"\bpul-[a-f0-9]{40}\b", Entropy(3.0)),
    rule(r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}", Entropy(3.5)),
    rule(r"\bkey-[a-f0-9]{32}\b", Entropy(3.2)),
    rule(r"\bxkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}\b", Entropy(3.0)),
    rule(r"\bATATT3[A-Za-z0-9_=-]{180,}", Entropy(3.5)),
    rule(r"\.atlasv1\.([A-Za-z0-9=_-]{60,70})", Entropy(3.5)),
    rule(r"\bfo1_[A-Za-z0-9_-]{43}\b", Entropy(3.5)),
    rule(r"\btskey-(?:auth|api|client|scim|webhook)-[A-Za-z0-9]{8,}-[A-Za-z0-9]{20,}", Entropy(3.0)),
    rule(r"\bAGE-SECRET-KEY-1[AC-HJ-NP-Z02-9]{58}\b", Entropy(3.0)),
    // JSON Web Tokens.
    rule(r"\beyJ[A-Za-z0-9_-]{14,}\.eyJ[A-Za-z0-9_-]{14,}\.[A-Za-z0-9_-]{20,}", Header),
    // A password in a URL.
    rule(r"://[A-Za-z0-9_.%+~-]{1,64}:([A-Za-z0-9_.%+~!*-]{8,128})@[A-Za-z0-9]", Entropy(3.0)),
];

/// The longest prefix that stays visible.
const MAX_PREFIX: usize = 8;

static SHAPES: LazyLock<Regex> = LazyLock::new(|| {
    let patterns: Vec<&str> = RULES.iter().map(|rule| rule.pattern).collect();
    Regex::builder()
        .syntax(syntax::Config::new().utf8(false).unicode(false))
        .configure(Regex::config().utf8_empty(false))
        .build_many(&patterns)
        .expect("the patterns are of this file")
});

/// The tokens that pass every check of their format.
pub(super) fn certain(text: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    shaped(text).filter(|found| proves(found.proof, found.token)).map(|found| found.span)
}

/// The parts of tokens to mask: all but the prefix that identifies the service.
///
/// A random token with a wrong checksum is included: hiding too much is the safe error.
pub(super) fn secret_parts(text: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let may_be = |proof: Proof, token: &[u8]| proves(proof, token) || (matches!(proof, Checksum) && is_random(token));
    shaped(text)
        .filter(move |found| may_be(found.proof, found.token))
        .map(|found| found.span.start + found.prefix..found.span.end)
}

/// The length of the visible prefix: `ghp_`, `xoxb-`, `SG.`, `AKIA`.
fn prefix(token: &[u8]) -> usize {
    let separator = token.iter().take(MAX_PREFIX).position(|byte| matches!(byte, b'_' | b'-' | b'.'));
    match separator {
        Some(at) => at + 1,
        None if token.starts_with(b"eyJ") => 0,
        None => 4,
    }
}

/// A token and its proof. Matches of a group have no prefix.
struct ShapedToken<'a> {
    span: Range<usize>,
    token: &'a [u8],
    proof: Proof,
    prefix: usize,
}

fn shaped(text: &[u8]) -> impl Iterator<Item = ShapedToken<'_>> {
    SHAPES.captures_iter(text).filter_map(move |found| {
        let rule = RULES.get(found.pattern()?.as_usize())?;
        let (span, is_group) = match found.get_group(1) {
            Some(group) => (group.range(), true),
            None => (found.get_match()?.range(), false),
        };
        let token = &text[span.clone()];
        Some(ShapedToken { span, token, proof: rule.proof, prefix: if is_group { 0 } else { prefix(token) } })
    })
}

fn proves(proof: Proof, token: &[u8]) -> bool {
    if is_made_up(token) {
        return false;
    }
    match proof {
        Checksum => has_checksum(token),
        Entropy(least) => entropy(token) >= least,
        Header => has_header(token),
    }
}

/// Documentation marks its sample tokens with such words.
fn is_made_up(token: &[u8]) -> bool {
    let upper = token.to_ascii_uppercase();
    ["EXAMPLE", "XXXXX", "00000000", "12345678", "PASSWORD", "PLACEHOLDER"]
        .iter()
        .any(|word| memchr::memmem::find(&upper, word.as_bytes()).is_some())
}

fn is_random(token: &[u8]) -> bool {
    !is_made_up(token) && entropy(token) >= 3.5
}

/// Whether the last six characters are the checksum of the thirty before them, as GitHub and npm compute it.
fn has_checksum(token: &[u8]) -> bool {
    let Some(at) = token.len().checked_sub(36) else { return false };
    let (random, checksum) = token[at..].split_at(30);
    let mut rest = crc32fast::hash(random);
    let mut expected = [b'0'; 6];
    for digit in expected.iter_mut().rev() {
        *digit = BASE62[(rest % 62) as usize];
        rest /= 62;
    }
    checksum == expected
}

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Shannon entropy in bits per character.
fn entropy(text: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    text.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let total = f64::from(u32::try_from(text.len()).unwrap_or(u32::MAX));
    let shares = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / total);
    shares.map(|share| -share * share.log2()).sum()
}

/// Whether the first part of a JSON Web Token is a header.
fn has_header(token: &[u8]) -> bool {
    let first = token.split(|byte| *byte == b'.').next().unwrap_or_default();
    let decoded = BASE64_URL_SAFE_NO_PAD.decode(first).unwrap_or_default();
    let header: Option<serde_json::Map<String, serde_json::Value>> = serde_json::from_slice(&decoded).ok();
    header.is_some_and(|header| header.contains_key("alg"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_github_and_npm() {
        assert_eq!(crc32fast::hash(b"123456789"), 0xCBF4_3926);
        assert!(has_checksum(&["ghp_zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ", "0mLq17"].concat().into_bytes()));
        assert!(!has_checksum(&["ghp_zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ", "0mLq18"].concat().into_bytes()));
    }
}
