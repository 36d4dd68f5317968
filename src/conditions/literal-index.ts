import type { Atom, Holding, TextIndex } from './atom.ts'
import type { Meter } from './evaluation-time-limit.ts'
import { KeywordAutomaton, MAX_KEYWORD_CHARACTERS } from './keyword-automaton.ts'
import { CostEstimate } from './search-cost-estimate.ts'
import { NO_ATOMS, TextCache } from './text-cache.ts'

/** Up to this number of strings, each string is searched for separately, which is cheaper than an automaton. */
const FEW = 16
/** Cost of processing one character in an automaton, in the units of `CostEstimate`. */
const CHARACTER_WORK = 50

type Place = 'contains' | 'starts_with' | 'ends_with'

interface Wanted {
  atom: Atom
  place: Place
}

/** A string to search for, the atoms that require it, and the set that contains it. */
interface Keyword {
  wanted: Wanted[]
  set: KeywordSet
}

/**
 * Index of strings to find anywhere in a text, or at its start or end. The strings are in sets that are small enough to
 * be rebuilt quickly after a change.
 */
export class LiteralIndex implements TextIndex {
  private readonly keywords = new Map<string, Keyword>()
  private sets: KeywordSet[] = []
  /** Atoms with an empty string, which every text contains. */
  private readonly always = new Set<Atom>()
  private readonly memory = new TextCache()
  private readonly log = new CostEstimate()

  add(atom: Atom): void {
    this.memory.clear()
    for (const text of new Set(atom.condition.values)) {
      if (text === '') this.always.add(atom)
      else this.keywordOf(text).wanted.push({ atom, place: atom.condition.op as Place })
    }
  }

  remove(atom: Atom): void {
    this.memory.clear()
    this.always.delete(atom)
    for (const text of new Set(atom.condition.values)) {
      const keyword = this.keywords.get(text)
      if (!keyword) continue
      keyword.wanted = keyword.wanted.filter((wanted) => wanted.atom !== atom)
      if (keyword.wanted.length === 0) this.forget(text, keyword)
    }
  }

  prepare(): void {
    for (const set of this.sets) set.prepare()
  }

  find(text: string, _key: string, holding: Holding, meter: Meter): void {
    // For a few strings, searching is faster than a cache lookup.
    if (this.keywords.size <= FEW) return this.findEach(text, holding)
    for (const atom of this.memory.recall(text, () => this.search(text, meter))) holding.hold(atom)
  }

  private findEach(text: string, holding: Holding): void {
    for (const atom of this.always) holding.hold(atom)
    for (const [part, { wanted }] of this.keywords) {
      if (!text.includes(part)) continue
      for (const { atom, place } of wanted) if (isAt(place, text, part)) holding.hold(atom)
    }
  }

  private keywordOf(text: string): Keyword {
    const known = this.keywords.get(text)
    if (known) return known
    const set = this.sets.find((some) => some.hasRoomFor(text)) ?? new KeywordSet()
    if (set.size === 0) this.sets.push(set)
    set.add(text)
    const keyword = { wanted: [], set }
    this.keywords.set(text, keyword)
    return keyword
  }

  private forget(text: string, { set }: Keyword): void {
    this.keywords.delete(text)
    set.delete(text)
    if (set.size === 0) this.sets = this.sets.filter((other) => other !== set)
  }

  private search(text: string, meter: Meter): readonly Atom[] {
    const found = new Set(this.always)
    for (const set of this.sets) {
      // Building the automaton takes time, so the meter is checked first.
      if (!set.isPrepared) meter.check(0)
      set.prepare()
      this.log.measure(text.length * Math.min(set.size, CHARACTER_WORK), meter, () => {
        for (const part of set.find(text)) this.collect(part, text, found)
      })
    }
    return found.size > 0 ? [...found] : NO_ATOMS
  }

  private collect(part: string, text: string, found: Set<Atom>): void {
    for (const { atom, place } of this.keywords.get(part)?.wanted ?? []) {
      if (isAt(place, text, part)) found.add(atom)
    }
  }
}

/** Returns whether a part that occurs in the text is at the required position. */
function isAt(place: Place, text: string, part: string): boolean {
  return place === 'contains' || (place === 'starts_with' ? text.startsWith(part) : text.endsWith(part))
}

class KeywordSet {
  private readonly keywords = new Set<string>()
  private characters = 0
  /** Null until the next search, and while the set is too small to need an automaton. */
  private automaton: KeywordAutomaton | null = null

  get size(): number {
    return this.keywords.size
  }

  hasRoomFor({ length }: string): boolean {
    return this.characters + length <= MAX_KEYWORD_CHARACTERS
  }

  add(keyword: string): void {
    this.keywords.add(keyword)
    this.characters += keyword.length
    this.automaton = null
  }

  delete(keyword: string): void {
    this.keywords.delete(keyword)
    this.characters -= keyword.length
    this.automaton = null
  }

  get isPrepared(): boolean {
    return this.automaton !== null || this.keywords.size <= FEW
  }

  /** Builds the automaton if needed. Must be called before `find`. */
  prepare(): void {
    if (!this.isPrepared) this.automaton = new KeywordAutomaton(this.keywords)
  }

  /** Returns the keywords that the text contains. */
  find(text: string): string[] {
    return this.automaton?.find(text) ?? [...this.keywords].filter((keyword) => text.includes(keyword))
  }
}
