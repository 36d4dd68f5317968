import { DynamicAhoCorasick } from '@monyone/aho-corasick'
import type { Atom } from './atom.ts'
import type { Meter } from './meter.ts'
import type { Holding, TextIndex } from './text-index.ts'
import { NO_ATOMS, TextMemory } from './text-memory.ts'
import { WorkLog } from './work-log.ts'

/** So many texts are searched for one by one: cheaper than an automaton. */
const FEW = 16

type Place = 'contains' | 'starts_with' | 'ends_with'

interface Wanted {
  atom: Atom
  text: string
  place: Place
}

/**
 * Texts that are searched for, anywhere or at an end, by one automaton (Aho and Corasick, Efficient string matching, 1975)
 * that texts are added to and taken from without building it anew.
 */
export class LiteralIndex implements TextIndex {
  private readonly byText = new Map<string, Wanted[]>()
  /** Atoms with an empty text, which is everywhere. */
  private readonly always = new Set<Atom>()
  /** Null: not needed yet. */
  private automaton: DynamicAhoCorasick | null = null
  private readonly memory = new TextMemory()
  private readonly log = new WorkLog()

  add(atom: Atom): void {
    this.memory.clear()
    for (const text of new Set(atom.condition.values)) {
      if (text === '') this.always.add(atom)
      else this.want({ atom, text, place: atom.condition.op as Place })
    }
  }

  remove(atom: Atom): void {
    this.memory.clear()
    this.always.delete(atom)
    for (const text of new Set(atom.condition.values)) {
      const rest = this.byText.get(text)?.filter((wanted) => wanted.atom !== atom) ?? []
      if (rest.length > 0) this.byText.set(text, rest)
      else if (this.byText.delete(text)) this.automaton?.delete(text)
    }
  }

  prepare(): void {
    if (this.byText.size > FEW) this.automaton ??= new DynamicAhoCorasick([...this.byText.keys()])
  }

  find(text: string, _key: string, holding: Holding, meter: Meter): void {
    for (const atom of this.memory.recall(text, () => this.search(text, meter))) holding.hold(atom)
  }

  private want(wanted: Wanted): void {
    const others = this.byText.get(wanted.text)
    if (others) others.push(wanted)
    else {
      this.byText.set(wanted.text, [wanted])
      this.automaton?.add(wanted.text)
    }
  }

  private search(text: string, meter: Meter): readonly Atom[] {
    const found = new Set(this.always)
    // At worst each place of the text is the end of many that are wanted.
    this.log.measure(text.length * Math.sqrt(this.byText.size), meter, () => {
      if (this.byText.size <= FEW) this.searchEach(text, found)
      else this.searchAll(text, found)
    })
    return found.size > 0 ? [...found] : NO_ATOMS
  }

  private searchEach(text: string, found: Set<Atom>): void {
    for (const [part, all] of this.byText) {
      if (!text.includes(part)) continue
      for (const { atom, place } of all) {
        if (place === 'contains' || (place === 'starts_with' ? text.startsWith(part) : text.endsWith(part))) {
          found.add(atom)
        }
      }
    }
  }

  private searchAll(text: string, found: Set<Atom>): void {
    this.automaton ??= new DynamicAhoCorasick([...this.byText.keys()])
    for (const { begin, end, keyword } of this.automaton.matchInText(text)) {
      for (const { atom, place } of this.byText.get(keyword) ?? []) {
        if (place === 'contains' || (place === 'starts_with' ? begin === 0 : end === text.length)) found.add(atom)
      }
    }
  }
}
