import type { Finder, TextIndex } from './atom.ts'
import {
  Atom,
  type Clause,
  type CompiledRule,
  type Holding,
  type Literal,
  type RuleEvent,
  type RuleGroup,
} from './atom.ts'
import { type ConditionClause, type ConditionLiteral, clausesOf } from './clauses.ts'
import type { Condition, Rule } from './condition.ts'
import { fieldReader, keyReader, LABEL, targetOf } from './condition.ts'
import { type Meter, OutOfTime, UNLIMITED } from './evaluation-time-limit.ts'
import type { PhoneRegions } from './find-phone-numbers.ts'
import { placesOf } from './label-conditions.ts'
import { compileTest } from './predicate.ts'
import { indexOf, kindOf } from './text-index.ts'

/** The events to which a rule applies. An empty list means all. */
export interface Scope {
  domainIds: readonly string[]
  vendors: readonly string[]
}

/** The result for an event that breaks no rule. The same frozen list is always returned. */
export const NO_RULES: string[] = []
Object.freeze(NO_RULES)

/** A rule that was a candidate this many times without being broken starts to watch the clause that was false. */
const PATIENCE = 4

/**
 * Finds the few rules that an event breaks. Conditions are grouped by parameter and kind. Each group has an index that
 * finds the conditions that are true for a text.
 *
 * Each rule watches one clause and is a candidate only when that clause is true. When a candidate repeatedly turns out
 * not to be broken, it starts to watch a clause that was false. Rules therefore mostly watch clauses that are rarely
 * true, like the watched literals in SAT solvers (https://doi.org/10.1145/378239.379017).
 */
export class RuleSet implements Holding {
  private readonly rules = new Map<string, CompiledRule>()
  private readonly atoms = new Map<string, Atom>()
  private readonly groups = new Map<string, RuleGroup>()
  private readonly byKey = new Map<string, Set<RuleGroup>>()
  /** Groups of conditions on fields and on any parameter. */
  private readonly unkeyed = new Set<RuleGroup>()
  /** Atoms whose default value makes a watched clause true. */
  private readonly watchedDefaults = new Set<Atom>()
  private readonly always = new Set<CompiledRule>()
  /** Number of the current event. */
  private eventNumber = 0
  private event: RuleEvent | null = null
  private meter: Meter = UNLIMITED
  private candidates: CompiledRule[] = []

  /** `regions`: returns the countries whose national phone numbers are recognised. Called for each text. */
  constructor(private readonly regions: () => PhoneRegions = () => []) {}

  /** Number of rules. */
  get size(): number {
    return this.rules.size
  }

  /** Adds a rule that passed `checkRule`, or replaces the rule with this id. Other rules are not recompiled. */
  set(id: string, rule: Rule, scope: Scope = { domainIds: [], vendors: [] }): void {
    this.delete(id)
    const compiled: { -readonly [K in keyof CompiledRule]: CompiledRule[K] } = {
      id,
      clauses: [],
      watched: null,
      misses: 0,
      seenAt: 0,
    }
    compiled.clauses = this.clausesOf(rule, scope).map((literals) => ({ rule: compiled, literals }))
    this.rules.set(id, compiled)
    if (compiled.clauses.some(({ literals }) => literals.length === 0)) return
    const [first] = [...compiled.clauses].sort((a, b) => countDefaults(a) - countDefaults(b))
    if (first) this.watch(compiled, first)
    else this.always.add(compiled)
  }

  /** Removes a rule; does nothing for an unknown id. */
  delete(id: string): void {
    const rule = this.rules.get(id)
    if (!rule) return
    this.rules.delete(id)
    this.always.delete(rule)
    this.unwatch(rule)
    for (const { literals } of rule.clauses) for (const { atom } of literals) this.release(atom)
  }

  /** Compiles changes in advance, so that the next event does not have to wait. */
  prepare(): void {
    for (const { index } of this.groups.values()) index.prepare?.()
  }

  /**
   * Returns the ids of the rules that the event breaks, ascending; `NO_RULES` when it breaks none. Returns null when
   * the time limit of the meter is reached.
   */
  brokenBy(event: RuleEvent, meter: Meter = UNLIMITED): string[] | null {
    this.eventNumber++
    this.event = event
    this.meter = meter
    this.candidates = []
    try {
      meter.check(0)
      this.decideWatched(event)
      return this.verdict()
    } catch (error) {
      if (error instanceof OutOfTime) return null
      throw error
    } finally {
      this.event = null
    }
  }

  /** Called by an index when the atom is true for the event. */
  hold(atom: Atom): void {
    if (atom.holdsByDefault) atom.heldAt = this.eventNumber
    else this.flip(atom)
  }

  private decideWatched(event: RuleEvent): void {
    for (const key in event.params) {
      const groups = this.byKey.get(key)
      if (groups) for (const group of groups) if (group.watchers > 0) this.decide(group)
    }
    for (const group of this.unkeyed) if (group.watchers > 0) this.decide(group)
    for (const atom of this.watchedDefaults) {
      if (atom.flippedAt !== this.eventNumber) for (const clause of atom.onNoFlip) this.nominate(clause)
    }
  }

  private decide(group: RuleGroup): void {
    if (group.decidedAt === this.eventNumber || !this.event) return
    group.decidedAt = this.eventNumber
    if (!group.find(this.event, this, this.meter)) return
    for (const atom of group.defaults) if (atom.heldAt !== this.eventNumber) this.flip(atom)
  }

  private flip(atom: Atom): void {
    if (atom.flippedAt === this.eventNumber) return
    atom.flippedAt = this.eventNumber
    for (const clause of atom.onFlip) this.nominate(clause)
  }

  private nominate({ rule }: Clause): void {
    if (rule.seenAt === this.eventNumber) return
    rule.seenAt = this.eventNumber
    this.candidates.push(rule)
  }

  private verdict(): string[] {
    let broken = NO_RULES
    const add = ({ id }: CompiledRule) => {
      if (broken === NO_RULES) broken = [id]
      else broken.push(id)
    }
    for (const rule of this.always) add(rule)
    for (const rule of this.candidates) if (this.isBroken(rule)) add(rule)
    return broken.length > 1 ? broken.sort() : broken
  }

  private isBroken(rule: CompiledRule): boolean {
    for (const clause of rule.clauses) {
      if (clause === rule.watched || this.holds(clause)) continue
      if (++rule.misses >= PATIENCE) this.watch(rule, clause)
      return false
    }
    return true
  }

  private holds({ literals }: Clause): boolean {
    for (const { atom, holdsByDefault } of literals) {
      this.decide(atom.group)
      if ((atom.flippedAt === this.eventNumber) !== holdsByDefault) return true
    }
    return false
  }

  private watch(rule: CompiledRule, clause: Clause): void {
    this.unwatch(rule)
    rule.watched = clause
    rule.misses = 0
    for (const { atom, holdsByDefault } of clause.literals) {
      atom.group.watchers++
      if (holdsByDefault) {
        atom.onNoFlip.add(clause)
        this.watchedDefaults.add(atom)
      } else atom.onFlip.add(clause)
    }
  }

  private unwatch(rule: CompiledRule): void {
    if (!rule.watched) return
    for (const { atom, holdsByDefault } of rule.watched.literals) {
      atom.group.watchers--
      ;(holdsByDefault ? atom.onNoFlip : atom.onFlip).delete(rule.watched)
      if (atom.onNoFlip.size === 0) this.watchedDefaults.delete(atom)
    }
    rule.watched = null
  }

  private clausesOf(rule: Rule, { domainIds, vendors }: Scope): Literal[][] {
    const equals = (parameter: string, values: readonly string[]): Rule =>
      values.length > 0 ? { filters: [{ parameter, op: 'equals', values: [...values] }] } : {}
    const scope = [equals(DOMAIN, domainIds), equals('$vendor', vendors)].flatMap(clausesOf)
    return [...scope, ...clausesOf(rule)].map((clause) => distinct(clause).map((literal) => this.literalOf(literal)))
  }

  private literalOf({ positive, isNegative }: ConditionLiteral): Literal {
    const atom = this.atomOf(positive)
    return { atom, holdsByDefault: atom.holdsByDefault !== isNegative }
  }

  private atomOf(condition: Condition): Atom {
    const name = JSON.stringify([condition.parameter, condition.op, condition.values])
    const atom = this.atoms.get(name) ?? this.newAtom(name, condition)
    atom.references++
    return atom
  }

  private newAtom(name: string, condition: Condition): Atom {
    const group = this.groupFor(condition)
    const { parameter, op, values = [] } = condition
    // For an event without parameters, a condition on any parameter is false.
    const holdsByDefault = parameter !== '*' && compileTest(op, values, this.regions())('', parameter)
    const atom = new Atom(name, condition, group, holdsByDefault)
    this.atoms.set(name, atom)
    group.atoms++
    group.index.add(atom)
    if (holdsByDefault) group.defaults.add(atom)
    return atom
  }

  private release(atom: Atom): void {
    if (--atom.references > 0) return
    this.atoms.delete(atom.name)
    const { group } = atom
    group.index.remove(atom)
    group.defaults.delete(atom)
    if (--group.atoms === 0) this.forget(group)
  }

  private groupFor(condition: Condition): RuleGroup {
    const known = this.groups.get(groupNameOf(condition))
    if (known) return known
    const group = groupOf(condition, this.regions)
    this.groups.set(group.name, group)
    if (group.key === null) this.unkeyed.add(group)
    else this.byKey.set(group.key, (this.byKey.get(group.key) ?? new Set()).add(group))
    return group
  }

  private forget(group: RuleGroup): void {
    this.groups.delete(group.name)
    this.unkeyed.delete(group)
    if (group.key === null) return
    const others = this.byKey.get(group.key)
    others?.delete(group)
    if (others?.size === 0) this.byKey.delete(group.key)
  }
}

/**
 * Returns the number of literals that are true for a missing parameter. A clause without such literals is the best to
 * watch.
 */
const countDefaults = ({ literals }: Clause) => literals.filter(({ holdsByDefault }) => holdsByDefault).length

function distinct(clause: ConditionClause): ConditionLiteral[] {
  return [...new Map(clause.map((literal) => [JSON.stringify(literal), literal])).values()]
}

/** Pseudo field for the domains of a scope. It is not available to users, who choose domains outside the conditions. */
const DOMAIN = '$domainId'

/** Returns the name of a condition's group. There is one group per parameter and kind. */
const groupNameOf = ({ op, parameter }: Condition) => `${kindOf(op)} ${parameter}`

/** Returns an empty group for conditions of this kind on this parameter. */
function groupOf(condition: Condition, regions: () => PhoneRegions): RuleGroup {
  const index = indexOf(kindOf(condition.op), regions)
  const group = { index, name: groupNameOf(condition), decidedAt: 0, watchers: 0, atoms: 0, defaults: new Set<Atom>() }
  if (condition.parameter === DOMAIN) return { ...group, key: null, find: finderOf(index, DOMAIN, (e) => e.domainId) }
  const target = targetOf(condition)
  if (target.kind === 'any') return { ...group, key: null, find: finderOfAny(index) }
  if (target.kind === 'label') return { ...group, key: null, find: finderOfLabels(index) }
  if (target.kind === 'field') {
    return { ...group, key: null, find: finderOf(index, condition.parameter, fieldReader(target.field)) }
  }
  return { ...group, key: target.key, find: finderOf(index, target.key, keyReader(target.key)) }
}

function finderOf(index: TextIndex, key: string, read: (event: RuleEvent) => string): Finder {
  return (event, holding, meter) => {
    const text = read(event)
    if (text === '') return false
    index.find(text, key, holding, meter)
    return true
  }
}

function finderOfAny(index: TextIndex): Finder {
  return ({ params }, holding, meter) => {
    for (const key in params) index.find(params[key] ?? '', key, holding, meter)
    return true
  }
}

/**
 * Returns a finder for label conditions. Their values are pairs of vendor and event. An event matches two of them: one
 * with its name and one for its whole vendor.
 */
function finderOfLabels(index: TextIndex): Finder {
  return (event, holding, meter) => {
    for (const place of placesOf(event)) index.find(place, LABEL, holding, meter)
    return true
  }
}
