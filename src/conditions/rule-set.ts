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
import { type Meter, OutOfTime, UNLIMITED } from './meter.ts'
import type { PhoneRegions } from './phone.ts'
import { compileTest } from './predicate.ts'
import { DOMAIN, groupNameOf, groupOf } from './rule-group.ts'

/** Where events are in a rule's scope. Empty: everywhere. */
export interface Scope {
  domainIds: readonly string[]
  vendors: readonly string[]
}

/** What events break that break no rule: always the same list. */
export const NO_RULES: string[] = []
Object.freeze(NO_RULES)

/** A rule that was looked at in vain so often waits for the clause that was false. */
const PATIENCE = 4

/**
 * Rules of which one event breaks few. Conditions are grouped by parameter and kind, and a text finds those that hold in
 * the index of its group, however many there are. A rule is looked at only when the clause holds that it waits for; found
 * unbroken, it soon waits for a clause that was false. So the time at each clause is the longer the more rarely it holds,
 * as with the watched literals of solvers for satisfiability (https://doi.org/10.1145/378239.379017).
 */
export class RuleSet implements Holding {
  private readonly rules = new Map<string, CompiledRule>()
  private readonly atoms = new Map<string, Atom>()
  private readonly groups = new Map<string, RuleGroup>()
  private readonly byKey = new Map<string, Set<RuleGroup>>()
  /** Of fields and of any parameter. */
  private readonly unkeyed = new Set<RuleGroup>()
  /** Atoms by whose default a clause holds that a rule waits for. */
  private readonly standing = new Set<Atom>()
  private readonly always = new Set<CompiledRule>()
  /** The number of the event that is looked at. */
  private now = 0
  private event: RuleEvent | null = null
  private meter: Meter = UNLIMITED
  private candidates: CompiledRule[] = []

  /** `regions`: the countries whose national phone numbers count, asked at each text. */
  constructor(private readonly regions: () => PhoneRegions = () => []) {}

  /** How many rules there are. */
  get size(): number {
    return this.rules.size
  }

  /** Adds a rule that passed `checkRule`, or replaces the one with this id. Compiles nothing of the others. */
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

  /** Removes a rule; nothing happens when there is none of this id. */
  delete(id: string): void {
    const rule = this.rules.get(id)
    if (!rule) return
    this.rules.delete(id)
    this.always.delete(rule)
    this.unwatch(rule)
    for (const { literals } of rule.clauses) for (const { atom } of literals) this.release(atom)
  }

  /** Compiles what changed, which else the next event waits for. */
  prepare(): void {
    for (const { index } of this.groups.values()) index.prepare?.()
  }

  /**
   * Ids of the rules that the event breaks, ascending; when there is none, one and the same empty list. Null when the
   * meter ended the work.
   */
  brokenBy(event: RuleEvent, meter: Meter = UNLIMITED): string[] | null {
    this.now++
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

  /** Called by an index: the atom holds for the event. */
  hold(atom: Atom): void {
    if (atom.holdsByDefault) atom.heldAt = this.now
    else this.flip(atom)
  }

  private decideWatched(event: RuleEvent): void {
    for (const key in event.params) {
      const groups = this.byKey.get(key)
      if (groups) for (const group of groups) if (group.watchers > 0) this.decide(group)
    }
    for (const group of this.unkeyed) if (group.watchers > 0) this.decide(group)
    for (const atom of this.standing) {
      if (atom.flippedAt !== this.now) for (const clause of atom.standing) this.lookAt(clause)
    }
  }

  private decide(group: RuleGroup): void {
    if (group.decidedAt === this.now || !this.event) return
    group.decidedAt = this.now
    if (!group.find(this.event, this, this.meter)) return
    for (const atom of group.defaults) if (atom.heldAt !== this.now) this.flip(atom)
  }

  private flip(atom: Atom): void {
    if (atom.flippedAt === this.now) return
    atom.flippedAt = this.now
    for (const clause of atom.onFlip) this.lookAt(clause)
  }

  private lookAt({ rule }: Clause): void {
    if (rule.seenAt === this.now) return
    rule.seenAt = this.now
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
      if ((atom.flippedAt === this.now) !== holdsByDefault) return true
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
        atom.standing.add(clause)
        this.standing.add(atom)
      } else atom.onFlip.add(clause)
    }
  }

  private unwatch(rule: CompiledRule): void {
    if (!rule.watched) return
    for (const { atom, holdsByDefault } of rule.watched.literals) {
      atom.group.watchers--
      ;(holdsByDefault ? atom.standing : atom.onFlip).delete(rule.watched)
      if (atom.standing.size === 0) this.standing.delete(atom)
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
    // Of no parameter at all, none matches.
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

/** How many of the clause's literals hold for a missing parameter: rules wait best where none does. */
const countDefaults = ({ literals }: Clause) => literals.filter(({ holdsByDefault }) => holdsByDefault).length

function distinct(clause: ConditionClause): ConditionLiteral[] {
  return [...new Map(clause.map((literal) => [JSON.stringify(literal), literal])).values()]
}
