//! The processor's instructions: those that this build was compiled for, and those that this machine has.
//!
//! Released builds need nothing beyond the baseline of their architecture. A build with `-C target-cpu=native` that is copied
//! to an older machine would end with `SIGILL` in the middle of a request.

use std::path::Path;

/// Instructions that a compiler option adds to the baseline, by Linux's names.
const COMPILED_FOR: &[(bool, &str)] = &[
    (cfg!(target_feature = "ssse3"), "ssse3"),
    (cfg!(target_feature = "sse4.1"), "sse4_1"),
    (cfg!(target_feature = "sse4.2"), "sse4_2"),
    (cfg!(target_feature = "popcnt"), "popcnt"),
    (cfg!(target_feature = "movbe"), "movbe"),
    (cfg!(target_feature = "f16c"), "f16c"),
    (cfg!(target_feature = "fma"), "fma"),
    (cfg!(target_feature = "bmi1"), "bmi1"),
    (cfg!(target_feature = "bmi2"), "bmi2"),
    (cfg!(target_feature = "avx"), "avx"),
    (cfg!(target_feature = "avx2"), "avx2"),
    (cfg!(target_feature = "avx512f"), "avx512f"),
    (cfg!(target_feature = "avx512bw"), "avx512bw"),
    (cfg!(target_feature = "avx512vl"), "avx512vl"),
    (cfg!(target_feature = "lse"), "atomics"),
    (cfg!(target_feature = "dotprod"), "asimddp"),
    (cfg!(target_feature = "sve"), "sve"),
];

/// Where Linux lists the instructions. Other systems do not have the file, and nothing is missing there.
const LISTED_IN: &str = "/proc/cpuinfo";

/// The instructions that this build uses and this machine lacks.
pub fn missing() -> Vec<&'static str> {
    let needed: Vec<&str> = COMPILED_FOR.iter().filter(|(is_used, _)| *is_used).map(|(_, name)| *name).collect();
    if needed.is_empty() {
        return needed;
    }
    std::fs::read_to_string(Path::new(LISTED_IN)).map_or_else(|_| Vec::new(), |text| not_listed(&needed, &text))
}

/// Filters `needed` to the names that the first processor's list lacks. Without a list in the text, none is returned.
fn not_listed(needed: &[&'static str], text: &str) -> Vec<&'static str> {
    let list = text.lines().filter_map(|line| line.split_once(':'));
    let Some((_, listed)) = list.into_iter().find(|(name, _)| matches!(name.trim(), "flags" | "Features")) else {
        return Vec::new();
    };
    needed.iter().copied().filter(|name| !listed.split_whitespace().any(|has| has == *name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_that_the_machine_lacks_are_named() {
        let old = "processor\t: 0\nflags\t\t: fpu sse sse2 ssse3 sse4_1\n\nprocessor\t: 1\nflags\t\t: fpu avx2\n";
        assert_eq!(not_listed(&["sse4_1", "avx2", "bmi2"], old), ["avx2", "bmi2"]);
        assert_eq!(not_listed(&["atomics"], "processor : 0\nFeatures\t: fp asimd atomics\n"), [""; 0]);
        assert_eq!(not_listed(&["avx2"], "no list\n"), [""; 0], "unknown is not missing");
    }

    #[test]
    fn this_machine_runs_this_build() {
        assert_eq!(missing(), [""; 0]);
    }
}
