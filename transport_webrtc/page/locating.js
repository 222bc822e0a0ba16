/** Where words that are told of stand in a text: some are spelt differently there, and on a narrow network many are left out. */

/** Words of the text that may stand between two that were told of. */
const SKIPPED = 4;
/** As people speak; and nobody speaks more. */
const WORDS_A_SECOND = 2.7;
const MOST_A_SECOND = 5;
/** A place is known by so many of the words that follow it there … */
const KNOWN_BY = 2;
/** … of so many that are looked at. */
const LOOKED_AT = 3;

/** @typedef {{text: string, start: number, end: number}} Word times in ticks of the utterance */
/** @typedef {{from: number, to: number}} Place indices in a text */

const IN_WORD = /[\p{L}\p{N}\p{M}]/u;
/** Scripts in which words follow each other without a space. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;

/**
 * Where the words stand in the text, in order; null for a word that the text spells differently ("12" said "twelve").
 * @param {string} text
 * @param {Word[]} words
 * @param {number} from index in `text` at which to begin
 * @param {number} skipping words of the text that may be passed over on the way to the next one
 * @returns {(Place | null)[]}
 */
export function locate(text, words, from, skipping = SKIPPED) {
  return words.map(({text: word}) => {
    const [place] = places(text, word, from, skipping);
    if (!place) return null;
    from = place.to;
    return place;
  });
}

/**
 * Where a word stands that was told of so many seconds after the one that ends at `from`; null where it does not.
 * @param {string} text @param {string} word @param {number} from @param {number} seconds
 */
export function nearest(text, word, from, seconds) {
  return closest(text, places(text, word, from, reach(seconds)), from, seconds);
}

/**
 * Where the first of several words stand that may begin some way behind `from`, as those before them may have been left out.
 * @param {string} text @param {Word[]} words @param {number} from @param {number} seconds from the word that ends at `from`
 */
export function begins(text, words, from, seconds) {
  for (let index = 0; index < Math.min(words.length, LOOKED_AT); index++) {
    const following = words.slice(index + 1, index + 1 + LOOKED_AT);
    const known = places(text, words[index].text, from, reach(seconds)).filter(({to}) => {
      const found = locate(text, following, to, KNOWN_BY).filter((place) => place);
      return found.length >= Math.min(KNOWN_BY, following.length);
    });
    const place = closest(text, known, from, seconds);
    if (place) return place.from;
  }
  return from;
}

/** @param {number} seconds */
function reach(seconds) {
  return SKIPPED + MOST_A_SECOND * seconds;
}

/** One that follows at once, or else the one that is as far as people speak in that time. @param {string} text @param {Place[]} found @param {number} from @param {number} seconds @returns {Place | null} */
function closest(text, found, from, seconds) {
  const off = (/** @type {Place} */ place) => {
    const passed = wordsIn(text.slice(from, place.from));
    return passed && Math.abs(passed - WORDS_A_SECOND * seconds);
  };
  return found.reduce((/** @type {Place | null} */ best, place) => (best && off(best) <= off(place) ? best : place), null);
}

/** Wherever a word stands as a whole, behind at most so many others. @param {string} text @param {string} word @param {number} from @param {number} skipping @returns {Place[]} */
function places(text, word, from, skipping) {
  const [haystack, needle] = [text.toLowerCase(), word.toLowerCase()];
  const found = [];
  if (!needle) return found;
  for (let at = haystack.indexOf(needle, from); at >= 0; at = haystack.indexOf(needle, at + 1)) {
    if (wordsIn(text.slice(from, at)) > skipping) break;
    if (ends(haystack, at) && ends(haystack, at + needle.length)) found.push({from: at, to: at + needle.length});
  }
  return found;
}

/** Whether no word goes on across a place. @param {string} text @param {number} at */
function ends(text, at) {
  const [before, after] = [text[at - 1] ?? "", text[at] ?? ""];
  return !IN_WORD.test(before) || !IN_WORD.test(after) || UNSPACED.test(before) || UNSPACED.test(after);
}

/** @param {string} text */
function wordsIn(text) {
  return text.match(/\S+/g)?.length ?? 0;
}
