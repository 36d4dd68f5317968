import { RE2Set } from 're2js'
import type { Atom, Holding, TextIndex } from './atom.ts'
import type { Meter } from './evaluation-time-limit.ts'
import { compilePattern } from './pattern.ts'
import { CostEstimate } from './search-cost-estimate.ts'
import { NO_ATOMS, TextCache } from './text-cache.ts'

/** One value of a condition. */
interface Entry {
  atom: Atom
  source: string
  /** Number of instructions, which determines the worst-case cost of a character. */
  size: number
  matches(text: string): boolean
}

/** Up to this number of patterns, each pattern is matched separately, which is cheaper than an automaton. */
const FEW = 2
/**
 * Maximum number of patterns in one set. With more patterns, the states exceed the available memory, and recompiling a
 * set after a change takes longer. Measured with URLs of 80 characters: 1.1 µs per text for 32 patterns, 9 µs for 64.
 */
const MAX_ENTRIES = 32
const MAX_INSTRUCTIONS = 2000
/** Maximum memory for the automaton states of one set, in bytes. */
const AUTOMATON_BYTES = 1024 * 1024
/**
 * A set is slow when a character costs at least this much per pattern. This must be measured several times in a row,
 * because a busy machine is occasionally slow. Usual values are 0.4 ns, and 5 ns for a single pattern.
 */
const SLOW_NS = 10
const JUDGED_CHARACTERS = 20_000
const SLOW_TIMES = 3

/**
 * Index of patterns in RE2 sets. Each set is one automaton that reads a text once:
 * https://github.com/google/re2/blob/main/re2/set.h. Slow sets are split.
 */
export class PatternIndex implements TextIndex {
  private sets: PatternSet[] = []
  private readonly memory = new TextCache()

  add(atom: Atom): void {
    this.memory.clear()
    for (const source of new Set(atom.condition.values)) {
      const entry = { atom, source, ...compilePattern(source) }
      const set = this.sets.find((some) => some.hasRoomFor(entry))
      if (set) set.add(entry)
      else this.sets.push(new PatternSet([entry]))
    }
  }

  remove(atom: Atom): void {
    this.memory.clear()
    for (const set of this.sets) set.remove(atom)
    this.sets = this.sets.filter(({ isEmpty }) => !isEmpty)
  }

  prepare(): void {
    for (const set of this.sets) set.prepare()
  }

  find(text: string, _key: string, holding: Holding, meter: Meter): void {
    // For a few patterns, matching is faster than a cache lookup.
    const found = this.isSmall ? this.search(text, meter) : this.memory.recall(text, () => this.search(text, meter))
    for (const atom of found) holding.hold(atom)
  }

  private get isSmall(): boolean {
    const [only, ...others] = this.sets
    return others.length === 0 && (only?.isSmall ?? true)
  }

  private search(text: string, meter: Meter): readonly Atom[] {
    const found = this.sets.flatMap((set) => set.find(text, meter))
    if (this.sets.some(({ isSlow }) => isSlow)) {
      this.sets = this.sets.flatMap((set) => (set.isSlow ? set.split() : [set]))
    }
    return found
  }
}

class PatternSet {
  /** Null until the next search, and while the set is too small to need an automaton. */
  private automaton: RE2Set | null = null
  private instructions: number
  private readonly log = new CostEstimate()
  /** Number of characters measured since the set was last classified as slow or fast. */
  private characters = 0
  private workedMs = 0
  /** Number of consecutive slow measurements. */
  private slowTimes = 0

  constructor(
    private entries: Entry[],
    /** True for parts of a split set, to which no patterns are added. */
    private readonly isClosed = false,
  ) {
    this.instructions = instructionsOf(entries)
  }

  /** True when the patterns are matched one by one. */
  get isSmall(): boolean {
    return this.entries.length <= FEW
  }

  get isEmpty(): boolean {
    return this.entries.length === 0
  }

  /** True when matching the patterns together costs more than matching them one by one. */
  get isSlow(): boolean {
    return this.slowTimes >= SLOW_TIMES && this.entries.length > FEW
  }

  hasRoomFor({ size }: Entry): boolean {
    return !this.isClosed && this.entries.length < MAX_ENTRIES && this.instructions + size <= MAX_INSTRUCTIONS
  }

  add(entry: Entry): void {
    this.entries.push(entry)
    this.instructions += entry.size
    this.automaton = null
  }

  remove(atom: Atom): void {
    const rest = this.entries.filter((entry) => entry.atom !== atom)
    if (rest.length === this.entries.length) return
    this.entries = rest
    this.instructions = instructionsOf(rest)
    this.automaton = null
  }

  split(): PatternSet[] {
    const middle = this.entries.length >> 1
    return [this.entries.slice(0, middle), this.entries.slice(middle)].map((half) => new PatternSet(half, true))
  }

  prepare(): void {
    if (this.entries.length > FEW) this.automaton ??= automatonOf(this.entries)
  }

  /** Returns the atoms that are true for the text, possibly with duplicates. */
  find(text: string, meter: Meter): readonly Atom[] {
    let found = NO_ATOMS
    const tookMs = this.log.measure(text.length * this.instructions, meter, () => {
      found = this.match(text)
    })
    if (tookMs !== null) this.judge(text.length, tookMs)
    return found
  }

  private match(text: string): readonly Atom[] {
    if (this.entries.length <= FEW) {
      return this.entries.flatMap(({ atom, matches }) => (matches(text) ? [atom] : NO_ATOMS))
    }
    this.automaton ??= automatonOf(this.entries)
    const indices = this.automaton.match(text)
    return indices.length > 0 ? indices.flatMap((index) => this.entries[index]?.atom ?? []) : NO_ATOMS
  }

  private judge(characters: number, tookMs: number): void {
    this.characters += characters
    this.workedMs += tookMs
    if (this.characters < JUDGED_CHARACTERS) return
    const isSlow = this.workedMs * 1e6 > this.characters * SLOW_NS * this.entries.length
    this.slowTimes = isSlow ? this.slowTimes + 1 : 0
    this.characters = 0
    this.workedMs = 0
  }
}

const instructionsOf = (entries: readonly Entry[]) => entries.reduce((sum, { size }) => sum + size, 0)

function automatonOf(entries: readonly Entry[]): RE2Set {
  const automaton = new RE2Set(RE2Set.UNANCHORED, 0, AUTOMATON_BYTES)
  for (const { source } of entries) automaton.add(source)
  automaton.compile()
  return automaton
}
