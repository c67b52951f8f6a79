//! The word that was probably meant, for error messages.

/// The candidate closest to `word`, if any is near enough to be what was meant.
///
/// Upper and lower case count as equal. Near enough is one edit in three letters of the longer
/// word; an edit inserts, drops or replaces one letter, or swaps two neighbours.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = letters(word);
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let letters = letters(candidate);
            let allowed = word.len().max(letters.len()) / 3;
            let distance = distance(&word, &letters);
            (distance <= allowed.max(1)).then_some((distance, candidate))
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

fn letters(word: &str) -> Vec<char> {
    word.chars().flat_map(char::to_lowercase).collect()
}

/// The edit distance in which swapping two neighbours is one edit (optimal string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            if i == 0 || j == 0 {
                table[i][j] = i + j;
                continue;
            }
            let replaced = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(table[i - 2][j - 2] + 1);
            }
            table[i][j] = best;
        }
    }
    table[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expected: Option<&str>) {
        assert_eq!(nearest(word, ["CartPole-v1", "LunarLander-v3", "tictactoe"]), expected);
    }

    #[test]
    fn finds_what_was_meant() {
        check("CartPol-v1", Some("CartPole-v1"));
        check("cartpole", Some("CartPole-v1"));
        check("CartPoel-v1", Some("CartPole-v1"));
        check("LunarLander-v2", Some("LunarLander-v3"));
        check("tic_tac_toe", Some("tictactoe"));
    }

    #[test]
    fn is_silent_when_nothing_is_near() {
        check("Humanoid-v5", None);
        check("", None);
    }

    #[test]
    fn a_swap_is_one_edit() {
        assert_eq!(distance(&letters("act"), &letters("cat")), 1);
        assert_eq!(distance(&letters("kitten"), &letters("sitting")), 3);
    }
}
