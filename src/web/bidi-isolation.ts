/** Right-to-left letters and bidirectional control characters. */
const TURNING =
  /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u
const [FIRST_STRONG, POP] = ['\u2068', '\u2069']
const OPENS = /[\u2066-\u2068]/

/** Wraps a name in Unicode isolates if it could change the direction of the surrounding text. */
export function isolate(name: string): string {
  if (!TURNING.test(name)) return name
  let open = 0
  let kept = ''
  for (const letter of name) {
    if (OPENS.test(letter)) open++
    else if (letter === POP) {
      // An unmatched closing character would close the outer isolate.
      if (open === 0) continue
      open--
    }
    kept += letter
  }
  return FIRST_STRONG + kept + POP.repeat(open + 1)
}

/** Joins names into one line and isolates each name. Empty names are omitted. */
export const joinIsolated = (names: readonly (string | null | undefined)[], between: string): string =>
  names.flatMap((name) => (name ? isolate(name) : [])).join(between)

/** Returns the messages, with every function wrapped to isolate its string arguments. */
export function isolateArguments<Words>(words: Words): Words {
  return within(words) as Words
}

function within(value: unknown): unknown {
  if (typeof value === 'function') {
    return (...given: unknown[]) => value(...given.map((one) => (typeof one === 'string' ? isolate(one) : one)))
  }
  if (Array.isArray(value)) return value.map(within)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, within(inner)]))
  }
  return value
}
