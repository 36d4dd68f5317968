/**
 * Maximum number of characters of all keywords of one automaton. A state and a character then fit into a small integer,
 * and building the automaton takes 5 to 10 ms.
 */
export const MAX_KEYWORD_CHARACTERS = 8000

const START = 0

/**
 * Finds which of many keywords a text contains in one pass over it (Aho and Corasick, Efficient string matching, 1975,
 * https://doi.org/10.1145/360825.360855). Each keyword found is processed once, so the cost of a text is its length and
 * the keywords in it, however they overlap. A state stores only the longest keyword that ends there, so memory grows
 * only with the characters.
 */
export class KeywordAutomaton {
  /** The next state, by state and character. */
  private readonly next = new Map<number, number>()
  /** The longest suffix of each state that is a state too. */
  private readonly failure: Int32Array
  /** The longest keyword that each state ends with, as a state; `START`: none. */
  private readonly output: Int32Array
  /** For states that are keywords: the number of the search that last found it. */
  private readonly foundAt: Float64Array
  private readonly keywordOf = new Map<number, string>()
  private searches = 0

  /** `keywords` are not empty, and have at most `MAX_KEYWORD_CHARACTERS` together. */
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
    // By length, because each link depends on those of shorter keywords.
    for (const step of steps.flat()) this.link(step)
  }

  /** Returns the keywords that the text contains, each once. */
  find(text: string): string[] {
    const found: string[] = []
    const search = ++this.searches
    let state = START
    for (let at = 0; at < text.length; at++) {
      state = this.follow(state, text.charCodeAt(at))
      // Keywords shorter than one already found were found with it.
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

  /** Returns the next shorter keyword that this one ends with. */
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
