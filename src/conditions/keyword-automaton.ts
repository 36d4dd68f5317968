// Optimisation: see docs/develop/tuning.md

/**
 * Maximum total number of characters in the keywords of one automaton. With this limit, a state and a character fit
 * into a small integer, and building the automaton takes 5 to 10 ms.
 */
export const MAX_KEYWORD_CHARACTERS = 8000

const START = 0

/**
 * Finds the keywords that a text contains in a single pass (Aho and Corasick, Efficient string matching, 1975,
 * https://doi.org/10.1145/360825.360855). Each keyword that is found is processed once. A search therefore takes time
 * proportional to the length of the text and the number of keywords in it, even when they overlap. A state only stores
 * the longest keyword that ends there, so memory is proportional to the number of characters.
 */
export class KeywordAutomaton {
  /** Transitions: the next state, by state and character. */
  private readonly next = new Map<number, number>()
  /** The longest proper suffix of each state that is itself a state. */
  private readonly failure: Int32Array
  /** The longest keyword at the end of each state, as a state; `START` when there is none. */
  private readonly output: Int32Array
  /** For each state that is a keyword, the number of the search that most recently found it. */
  private readonly foundAt: Float64Array
  private readonly keywordOf = new Map<number, string>()
  private searches = 0

  /** `keywords` must not be empty strings and must not have more than `MAX_KEYWORD_CHARACTERS` in total. */
  constructor(keywords: Iterable<string>) {
    const steps: Step[][] = []
    let states = 1
    for (const keyword of keywords) {
      let state = START
      for (let at = 0; at < keyword.length; at++) {
        const letter = keyword.charCodeAt(at)
        const known = this.next.get(keyOf(state, letter))
        const following = known ?? states++
        if (known === undefined) {
          this.next.set(keyOf(state, letter), following)
          steps[at] ??= []
          steps[at]?.push({ from: state, letter, to: following })
        }
        state = following
      }
      this.keywordOf.set(state, keyword)
    }
    this.failure = new Int32Array(states)
    this.output = new Int32Array(states)
    this.foundAt = new Float64Array(states)
    // Shorter keywords come first, because each link depends on the links of shorter keywords.
    for (const step of steps.flat()) this.link(step)
  }

  /** Returns the keywords that the text contains, without duplicates. */
  find(text: string): string[] {
    const found: string[] = []
    const search = ++this.searches
    let state = START
    for (let at = 0; at < text.length; at++) {
      state = this.follow(state, text.charCodeAt(at))
      // When a keyword was already found, the shorter keywords at its end were found as well.
      for (
        let end = this.output[state] ?? START;
        end !== START && this.foundAt[end] !== search;
        end = this.shorter(end)
      ) {
        this.foundAt[end] = search
        found.push(this.keywordOf.get(end) ?? '')
      }
    }
    return found
  }

  private link({ from, letter, to }: Step): void {
    const failure = from === START ? START : this.follow(this.failure[from] ?? START, letter)
    this.failure[to] = failure
    this.output[to] = this.keywordOf.has(to) ? to : (this.output[failure] ?? START)
  }

  private follow(from: number, letter: number): number {
    for (let state = from; ; state = this.failure[state] ?? START) {
      const next = this.next.get(keyOf(state, letter))
      if (next !== undefined) return next
      if (state === START) return START
    }
  }

  /** Returns the next shorter keyword at the end of this keyword. */
  private shorter(keyword: number): number {
    return this.output[this.failure[keyword] ?? START] ?? START
  }
}

interface Step {
  from: number
  letter: number
  to: number
}

const keyOf = (state: number, letter: number) => (state << 16) | letter
