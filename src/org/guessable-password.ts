/**
 * Number of characters that are examined. The time to examine a password grows faster than its length, and a longer one
 * is judged by its beginning.
 */
const EXAMINED_MAX = 50
/** The score of zxcvbn below which fewer than about a million guesses suffice (0 to 4). */
const MIN_SCORE = 2

type Strength = InstanceType<typeof import('@zxcvbn-ts/core')['ZxcvbnFactory']>

let loaded: Promise<Strength> | null = null

/** Loads the list of 49,000 common passwords on first use, because it takes 50 ms and 10 MB of memory. */
function loadStrength(): Promise<Strength> {
  loaded ??= (async () => {
    const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
      import('@zxcvbn-ts/core'),
      import('@zxcvbn-ts/language-common'),
    ])
    return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs })
  })()
  return loaded
}

/**
 * Returns why a password is easy to guess, as the end of a sentence: it is a common password or a variation of one, a
 * repetition or a sequence, or similar to what is known about the user. Null when it is not.
 *
 * @param known texts that an attacker would try first, such as the user's e-mail address
 */
export async function whyGuessable(password: string, known: readonly string[]): Promise<string | null> {
  const strength = await loadStrength()
  const words = ['tagwarden', ...known, ...known.flatMap((text) => text.split(/[^\p{L}\p{N}]+/u))]
  const { score, sequence } = strength.check(
    [...password].slice(0, EXAMINED_MAX).join(''),
    words.filter((word) => word.length > 2),
  )
  if (score >= MIN_SCORE) return null
  const dictionaries = sequence.map((match) => ('dictionaryName' in match ? match.dictionaryName : null))
  if (dictionaries.includes('userInputs')) return 'is too similar to your e-mail address or to a name'
  const isListed = sequence.length === 1 && dictionaries[0]?.startsWith('passwords')
  return isListed
    ? 'is one of the most common passwords'
    : 'is easy to guess, because it is a variation of a common password, a repetition or a sequence'
}
