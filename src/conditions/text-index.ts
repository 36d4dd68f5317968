import type { Operator } from '../contract/condition-operators.ts'
import type { Atom, Holding, TextIndex } from './atom.ts'
import type { Meter } from './evaluation-time-limit.ts'
import { containsEmail } from './find-email-addresses.ts'
import { containsPhone, type PhoneRegions } from './find-phone-numbers.ts'
import { LiteralIndex } from './literal-index.ts'
import { readNumber } from './parse-number.ts'
import { PatternIndex } from './pattern-index.ts'
import { CostEstimate } from './search-cost-estimate.ts'
import { countCodePoints, isBlank } from './text-length.ts'

/** The kinds of index. Each one supports certain positive operators. */
export type IndexKind = 'equals' | 'number' | 'length' | 'blank' | 'text' | 'pattern' | 'email' | 'phone'

const KINDS: Readonly<Partial<Record<Operator, IndexKind>>> = {
  equals: 'equals',
  gt: 'number',
  lt: 'number',
  length_eq: 'length',
  length_gt: 'length',
  length_lt: 'length',
  is_blank: 'blank',
  contains: 'text',
  starts_with: 'text',
  ends_with: 'text',
  regex: 'pattern',
  custom_pii_regex: 'pattern',
  contains_email: 'email',
  contains_phone: 'phone',
}

/** Returns the kind of index for a positive operator. */
export function kindOf(op: Operator): IndexKind {
  const kind = KINDS[op]
  if (!kind) throw new Error(`${op} is the complement of another operator`)
  return kind
}

/**
 * Returns an empty index of this kind. `regions`: returns the countries whose national phone numbers are recognised.
 * Called for each text.
 */
export function indexOf(kind: IndexKind, regions: () => PhoneRegions): TextIndex {
  switch (kind) {
    case 'equals':
      return new EqualsIndex()
    case 'number':
      return new NumberIndex()
    case 'length':
      return new LengthIndex()
    case 'blank':
      return new ScanIndex(isBlank)
    case 'email':
      return new ScanIndex(containsEmail, new CostEstimate())
    case 'phone':
      return new ScanIndex((text, key) => containsPhone(key, text, regions()), new CostEstimate())
    case 'text':
      return new LiteralIndex()
    case 'pattern':
      return new PatternIndex()
  }
}

/** Cost of searching one character for e-mail addresses or phone numbers, in the units of `CostEstimate`. */
const SCANNED_CHARACTER_WORK = 200
/** Minimum length of texts that may contain an e-mail address or a phone number. Shorter texts cost nothing. */
const SCANNED_FROM = 6

const valuesOf = (atom: Atom) => atom.condition.values ?? []

function addTo<K>(map: Map<K, Atom[]>, key: K, atom: Atom): void {
  const atoms = map.get(key)
  if (!atoms) map.set(key, [atom])
  else if (!atoms.includes(atom)) atoms.push(atom)
}

function removeFrom<K>(map: Map<K, Atom[]>, key: K, atom: Atom): void {
  const rest = map.get(key)?.filter((other) => other !== atom) ?? []
  if (rest.length > 0) map.set(key, rest)
  else map.delete(key)
}

function holdAll(atoms: readonly Atom[] | undefined, holding: Holding): void {
  if (atoms) for (const atom of atoms) holding.hold(atom)
}

class EqualsIndex implements TextIndex {
  private readonly byValue = new Map<string, Atom[]>()

  add(atom: Atom): void {
    for (const value of valuesOf(atom)) addTo(this.byValue, value, atom)
  }

  remove(atom: Atom): void {
    for (const value of valuesOf(atom)) removeFrom(this.byValue, value, atom)
  }

  find(text: string, _key: string, holding: Holding): void {
    holdAll(this.byValue.get(text), holding)
  }
}

/** Limits of `gt` or `lt` conditions, in the order in which a number satisfies them. */
class Limits {
  private readonly steps: { limit: number; atom: Atom }[] = []

  /** `sign`: 1 for conditions satisfied above the limit, -1 for those satisfied below it. */
  constructor(private readonly sign: 1 | -1) {}

  add(limit: number, atom: Atom): void {
    this.steps.splice(this.below(limit), 0, { limit: limit * this.sign, atom })
  }

  remove(atom: Atom): void {
    const index = this.steps.findIndex((step) => step.atom === atom)
    if (index >= 0) this.steps.splice(index, 1)
  }

  find(value: number, holding: Holding): void {
    const signed = value * this.sign
    for (const { limit, atom } of this.steps) {
      if (limit >= signed) break
      holding.hold(atom)
    }
  }

  /** Returns the number of limits before this one. */
  private below(limit: number): number {
    let [low, high] = [0, this.steps.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.steps[middle]?.limit ?? 0) < limit * this.sign) low = middle + 1
      else high = middle
    }
    return low
  }
}

class NumberIndex implements TextIndex {
  private readonly above = new Limits(1)
  private readonly under = new Limits(-1)

  add(atom: Atom): void {
    const limits = valuesOf(atom)
      .map(readNumber)
      .filter((limit) => limit !== null)
    // One satisfied value is enough, so the weakest limit decides.
    if (atom.condition.op === 'gt') this.above.add(Math.min(...limits), atom)
    else this.under.add(Math.max(...limits), atom)
  }

  remove(atom: Atom): void {
    this.above.remove(atom)
    this.under.remove(atom)
  }

  find(text: string, _key: string, holding: Holding): void {
    const value = readNumber(text)
    if (value === null) return
    this.above.find(value, holding)
    this.under.find(value, holding)
  }
}

class LengthIndex implements TextIndex {
  private readonly exact = new Map<number, Atom[]>()
  private readonly longer = new Limits(1)
  private readonly shorter = new Limits(-1)

  add(atom: Atom): void {
    const lengths = valuesOf(atom).map(Number)
    if (atom.condition.op === 'length_gt') this.longer.add(Math.min(...lengths), atom)
    else if (atom.condition.op === 'length_lt') this.shorter.add(Math.max(...lengths), atom)
    else for (const length of lengths) addTo(this.exact, length, atom)
  }

  remove(atom: Atom): void {
    this.longer.remove(atom)
    this.shorter.remove(atom)
    if (atom.condition.op === 'length_eq') {
      for (const value of valuesOf(atom)) removeFrom(this.exact, Number(value), atom)
    }
  }

  find(text: string, _key: string, holding: Holding): void {
    const length = countCodePoints(text)
    holdAll(this.exact.get(length), holding)
    this.longer.find(length, holding)
    this.shorter.find(length, holding)
  }
}

/** Index for a test without values. It runs once for all atoms that share it. */
class ScanIndex implements TextIndex {
  private readonly atoms = new Set<Atom>()

  /** `log`: set for tests that may take a long time; null for others. */
  constructor(
    private readonly holds: (text: string, key: string) => boolean,
    private readonly log: CostEstimate | null = null,
  ) {}

  add(atom: Atom): void {
    this.atoms.add(atom)
  }

  remove(atom: Atom): void {
    this.atoms.delete(atom)
  }

  find(text: string, key: string, holding: Holding, meter: Meter): void {
    if (this.test(text, key, meter)) for (const atom of this.atoms) holding.hold(atom)
  }

  private test(text: string, key: string, meter: Meter): boolean {
    if (!this.log || text.length < SCANNED_FROM) return this.holds(text, key)
    let holds = false
    // An event may have hundreds of texts that are too short to be measured individually.
    meter.check(0)
    this.log.measure(text.length * SCANNED_CHARACTER_WORK, meter, () => {
      holds = this.holds(text, key)
    })
    return holds
  }
}
