import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { StoredEvent } from '../core/event.ts'
import { type Condition, checkRule, type Rule } from './condition.ts'
import type { PhoneRegions } from './find-phone-numbers.ts'
import { compileViolation } from './predicate.ts'
import { anEvent, aRule } from './random-rules.fixture.ts'
import { RuleSet, type Scope } from './rule-set.ts'

const DOMAINS = ['dom_1', 'dom_2', 'dom_3']
const VENDORS = ['GA4', 'ab', 'other']
const some = (names: string[]) => fc.oneof(fc.constant([]), fc.subarray(names, { minLength: 1 }))
const aScopedRule = fc.record({
  rule: aRule.map(({ rule, read }) => {
    checkRule(rule)
    return read
  }),
  scope: fc.record({ domainIds: some(DOMAINS), vendors: some(VENDORS) }),
})
type ScopedRule = { rule: Rule; scope: Scope }
const aDomainEvent = fc.tuple(anEvent, fc.constantFrom(...DOMAINS)).map(([event, domainId]) => ({ ...event, domainId }))

/** Evaluates each rule separately. */
function plainly(rules: ReadonlyMap<string, ScopedRule>, event: StoredEvent, regions: PhoneRegions): string[] {
  const isBroken = ({ rule, scope: { domainIds, vendors } }: ScopedRule) =>
    (domainIds.length === 0 || domainIds.includes(event.domainId)) &&
    (vendors.length === 0 || vendors.includes(event.vendor)) &&
    compileViolation(rule, regions)(event)
  return [...rules].flatMap(([id, scoped]) => (isBroken(scoped) ? [id] : [])).sort()
}

describe('a rule set agrees with the predicate of each rule', () => {
  /** Rules in one set. They change between events, because the watched clauses depend on all earlier events. */
  const RULES = 60
  const EVENTS = 60
  const RUNS = 30

  test(`for ${RULES * EVENTS * RUNS} random pairs of rule and event, while rules change`, () => {
    const change = fc.record({ at: fc.nat(EVENTS), id: fc.nat(RULES - 1), to: fc.option(aScopedRule, { freq: 2 }) })
    const story = fc.record({
      rules: fc.array(aScopedRule, { minLength: RULES, maxLength: RULES }),
      events: fc.array(aDomainEvent, { minLength: EVENTS / 3, maxLength: EVENTS / 3 }),
      changes: fc.array(change, { maxLength: 20 }),
    })
    let pairs = 0
    fc.assert(
      fc.property(story, ({ rules, events, changes }) => {
        const regions: PhoneRegions = ['DE']
        const set = new RuleSet(() => regions)
        const plain = new Map<string, ScopedRule>()
        const put = (id: string, scoped: ScopedRule | null) => {
          plain.delete(id)
          set.delete(id)
          if (!scoped) return
          plain.set(id, scoped)
          set.set(id, scoped.rule, scoped.scope)
        }
        for (const [index, scoped] of rules.entries()) put(`alr_${index}`, scoped)
        // Each event is evaluated three times, so that rules start to watch other clauses.
        for (const [index, event] of [...events, ...events, ...events].entries()) {
          for (const { at, id, to } of changes) if (at === index) put(`alr_${id}`, to)
          pairs += plain.size
          expect(set.brokenBy(event)).toEqual(plainly(plain, event, regions))
        }
        expect(set.size).toBe(plain.size)
      }),
      { numRuns: RUNS },
    )
    expect(pairs).toBeGreaterThan(RULES * EVENTS * RUNS * 0.8)
  })

  test('with hundreds of similar values on one parameter', () => {
    const words = Array.from({ length: 600 }, (_, n) => `w${n * 7}`)
    const ops = ['equals', 'contains', 'starts_with', 'ends_with', 'not_contains', 'not_equals', 'regex'] as const
    const rules = new Map<string, ScopedRule>()
    const set = new RuleSet()
    for (const [index, word] of words.entries()) {
      for (const op of ops) {
        const items: Condition[] = [{ parameter: 'text', op, values: [op === 'regex' ? `${word}[0-9]?x` : word] }]
        const scoped = { rule: { conditions: { logic: 'all' as const, items } }, scope: { domainIds: [], vendors: [] } }
        rules.set(`${op} ${index}`, scoped)
        set.set(`${op} ${index}`, scoped.rule)
      }
    }
    const texts = ['', 'w7', 'aw7b', 'w70x', 'w14 w21 w4193', `${words.join(' ')}x`, 'W7', 'nothing']
    for (const text of texts) {
      const event = { ...fc.sample(anEvent, { numRuns: 1, seed: 1 })[0], params: { text } } as StoredEvent
      expect(set.brokenBy(event)).toEqual(plainly(rules, event, []))
    }
  })
})
