import type { StoredEvent } from '../core/event.ts'
import type { Condition, ConditionEvent } from './condition.ts'
import type { Meter } from './meter.ts'

/**
 * A positive condition in a rule set, shared by all rules that have it. Most conditions hold for few events, so only
 * the atoms that differ from their default, the result for a missing parameter, are recorded for an event.
 */
export class Atom {
  /** The number of the last event for which it held; recorded when it holds by default. */
  heldAt = 0
  /** The number of the last event for which it differed from its default. */
  flippedAt = 0
  /** Number of literals of rules in the set that refer to it. */
  references = 0
  /** Watched clauses whose rule becomes a candidate when the atom flips. */
  readonly onFlip = new Set<Clause>()
  /** Watched clauses whose rule becomes a candidate for each event that does not flip the atom. */
  readonly onNoFlip = new Set<Clause>()

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
  /** The rule becomes a candidate when this clause holds. Null for a rule without clauses, which every event breaks. */
  watched: Clause | null
  /** Number of times it was a candidate without being broken since `watched` changed. */
  misses: number
  /** The number of the last event for which it was a candidate. */
  seenAt: number
}

/** The part of an event that a rule set reads. */
export type RuleEvent = ConditionEvent & Pick<StoredEvent, 'domainId'>

/** Receives each atom that holds for a text, possibly more than once. */
export interface Holding {
  hold(atom: Atom): void
}

/** Conditions of one kind on one parameter, indexed so that a text finds those that hold without testing each. */
export interface TextIndex {
  add(atom: Atom): void
  remove(atom: Atom): void
  /** Compiles changes, so that the next text does not wait for it. */
  prepare?(): void
  /** Passes every atom that holds for the text under the key to `holding`. May throw `OutOfTime`. */
  find(text: string, key: string, holding: Holding, meter: Meter): void
}

/**
 * Finds the atoms that hold for an event. Returns false when the parameter is missing, and all atoms have their
 * default.
 */
export type Finder = (event: RuleEvent, holding: Holding, meter: Meter) => boolean

/** Conditions of one kind on one parameter. */
export interface RuleGroup {
  /** Number of watched clauses with atoms of the group. Zero: it is evaluated only when a candidate needs it. */
  watchers: number
  readonly name: string
  readonly index: TextIndex
  /** The key of `params` that it reads; null for fields and for any parameter. */
  readonly key: string | null
  /** The number of the last event for which its atoms were evaluated. */
  decidedAt: number
  atoms: number
  /** Atoms that hold for a missing parameter. */
  readonly defaults: Set<Atom>
  readonly find: Finder
}
