import type { StoredEvent } from '../core/event.ts'
import type { Condition, ConditionEvent } from './condition.ts'
import type { Meter } from './evaluation-time-limit.ts'

/**
 * A positive condition in a rule set, shared by all rules that contain it. Most conditions are true for few events. For
 * each event, only the atoms that differ from their default are therefore recorded. The default is the result for a
 * missing parameter.
 */
export class Atom {
  /** Number of the most recent event for which the atom was true. Only recorded when it is true by default. */
  heldAt = 0
  /** Number of the most recent event for which the atom differed from its default. */
  flippedAt = 0
  /** Number of literals in the set's rules that refer to this atom. */
  references = 0
  /** Watched clauses whose rule becomes a candidate when this atom flips. */
  readonly onFlip = new Set<Clause>()
  /** Watched clauses whose rule becomes a candidate for each event that does not flip this atom. */
  readonly onNoFlip = new Set<Clause>()

  constructor(
    readonly name: string,
    readonly condition: Condition,
    readonly group: RuleGroup,
    /** True when the atom holds for a missing parameter. */
    readonly holdsByDefault: boolean,
  ) {}
}

/** A condition of one rule: an atom or its negation. */
export interface Literal {
  atom: Atom
  /** True when the literal itself, as opposed to its atom, is true for a missing parameter. */
  holdsByDefault: boolean
}

/** A disjunction: true when any of its literals is true. */
export interface Clause {
  rule: CompiledRule
  literals: readonly Literal[]
}

/** A rule in conjunctive normal form. An event breaks the rule when all clauses are true. */
export interface CompiledRule {
  id: string
  clauses: readonly Clause[]
  /**
   * The rule becomes a candidate when this clause is true. Null for a rule without clauses, which every event breaks.
   */
  watched: Clause | null
  /** Number of times the rule was a candidate without being broken since `watched` changed. */
  misses: number
  /** Number of the most recent event for which the rule was a candidate. */
  seenAt: number
}

/** The fields of an event that a rule set reads. */
export type RuleEvent = ConditionEvent & Pick<StoredEvent, 'domainId'>

/** Receives each atom that is true for a text, possibly more than once. */
export interface Holding {
  hold(atom: Atom): void
}

/**
 * Index of the conditions of one kind on one parameter. It finds the conditions that are true for a text without
 * testing each one.
 */
export interface TextIndex {
  add(atom: Atom): void
  remove(atom: Atom): void
  /** Compiles changes in advance, so that the next text does not have to wait. */
  prepare?(): void
  /** Passes every atom that is true for the text under this key to `holding`. May throw `OutOfTime`. */
  find(text: string, key: string, holding: Holding, meter: Meter): void
}

/**
 * Finds the atoms that are true for an event. Returns false when the parameter is missing; all atoms then have their
 * default value.
 */
export type Finder = (event: RuleEvent, holding: Holding, meter: Meter) => boolean

/** The conditions of one kind on one parameter. */
export interface RuleGroup {
  /**
   * Number of watched clauses with atoms in this group. At 0, the group is evaluated only when a candidate needs it.
   */
  watchers: number
  readonly name: string
  readonly index: TextIndex
  /** Key of `params` that the group reads; null for fields and for conditions on any parameter. */
  readonly key: string | null
  /** Number of the most recent event for which the group's atoms were evaluated. */
  decidedAt: number
  atoms: number
  /** Atoms that are true for a missing parameter. */
  readonly defaults: Set<Atom>
  readonly find: Finder
}
