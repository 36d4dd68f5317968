import type { StoredEvent } from '../core/event.ts'
import type { Condition, ConditionEvent } from './condition.ts'
import type { Meter } from './meter.ts'

/**
 * One positive condition as a rule set knows it, however many rules have it. Most conditions hold for few events, so
 * what is kept of an event is where an atom differs from what it is for a missing parameter.
 */
export class Atom {
  /** The number of the last event for which it held, where that is its default. */
  heldAt = 0
  /** The number of the last event for which it was not as for a missing parameter. */
  flippedAt = 0
  /** How many literals of rules in the set refer to it. */
  references = 0
  /** Clauses with a rule that waits for a flip. */
  readonly onFlip = new Set<Clause>()
  /** Clauses with a rule that is looked at for each event that does not flip the atom. */
  readonly standing = new Set<Clause>()

  constructor(
    readonly name: string,
    readonly condition: Condition,
    readonly group: RuleGroup,
    /** Whether it holds for a missing parameter. */
    readonly holdsByDefault: boolean,
  ) {}
}

/** A condition of one rule: an atom or its complement. */
export interface Literal {
  atom: Atom
  /** Whether the literal, not the atom, holds for a missing parameter. */
  holdsByDefault: boolean
}

/** True when any of its literals holds. */
export interface Clause {
  rule: CompiledRule
  literals: readonly Literal[]
}

/** A rule as clauses, all of which hold for an event that breaks it. */
export interface CompiledRule {
  id: string
  clauses: readonly Clause[]
  /** The rule is looked at when this one holds. Null for a rule without clauses, which every event breaks. */
  watched: Clause | null
  /** How often it was looked at in vain since `watched` changed. */
  misses: number
  /** The number of the last event for which it was looked at. */
  seenAt: number
}

/** What a rule set reads of an event. */
export type RuleEvent = ConditionEvent & Pick<StoredEvent, 'domainId'>

/** Takes each atom that holds for a text; the same one may come more than once. */
export interface Holding {
  hold(atom: Atom): void
}

/** Conditions of one kind on one parameter, arranged so that a text finds those that hold without asking each. */
export interface TextIndex {
  add(atom: Atom): void
  remove(atom: Atom): void
  /** Compiles what changed, which else the next text waits for. */
  prepare?(): void
  /** Gives `holding` every atom that holds for the text under the key. May end with `OutOfTime`. */
  find(text: string, key: string, holding: Holding, meter: Meter): void
}

/** Finds the atoms that hold for an event. False: the parameter is missing, and all are as by default. */
export type Finder = (event: RuleEvent, holding: Holding, meter: Meter) => boolean

/** Conditions of one kind on one parameter. */
export interface RuleGroup {
  /** How many clauses wait for atoms of the group. Zero: it is decided only when a rule that is looked at needs it. */
  watchers: number
  readonly name: string
  readonly index: TextIndex
  /** The key of `params` that it reads; null for fields and for any parameter. */
  readonly key: string | null
  /** The number of the last event for which its atoms were decided. */
  decidedAt: number
  atoms: number
  /** Atoms that hold for a missing parameter. */
  readonly defaults: Set<Atom>
  readonly find: Finder
}
