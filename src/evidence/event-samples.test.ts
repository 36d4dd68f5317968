import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { eventOf, NOON, validationInput, volumeInput, warehouseWith } from '../alerts/alert.fixture.ts'
import type { AlertInput } from '../alerts/alert.ts'
import { judgeOf } from '../alerts/judge.fixture.ts'
import type { Condition } from '../conditions/condition.ts'
import { compileFilters, compileViolation } from '../conditions/predicate.ts'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import { findingOf } from '../issues/issue.fixture.ts'
import type { IssueRecord } from '../issues/issue.ts'
import { MAX_EVENTS, samplesOf } from './event-samples.ts'
import { problemWith } from './evidence.fixture.ts'
import type { IssueProblem } from './issue-problem.ts'

const seqs = (events: readonly ({ seq: number } | null)[]) => events.map((event) => event?.seq)

test('samples equal those found by a naive scan of all events', async () => {
  const condition: fc.Arbitrary<Condition> = fc.record({
    parameter: fc.constantFrom('k', 'tel', '*', '$path'),
    op: fc.constantFrom('equals', 'not_equals', 'is_blank', 'not_blank', 'contains_phone'),
    values: fc.constantFrom(['a'], ['b', '/a']),
  })
  const rule = fc.record({
    filters: fc.array(condition, { maxLength: 1 }),
    conditions: fc.record({
      logic: fc.constantFrom('any', 'all'),
      items: fc.array(condition, { minLength: 1, maxLength: 2 }),
    }),
    vendors: fc.constantFrom<string[]>([], ['ga4']),
  })
  const anEvent = fc.record({
    ago: fc.oneof(fc.nat(3 * HOUR_MS), fc.nat(10 * DAY_MS)),
    vendor: fc.constantFrom('ga4', 'meta'),
    event: fc.constantFrom('purchase', 'view'),
    domainId: fc.constantFrom('dom_shop', 'dom_shop', 'dom_other'),
    orgId: fc.constantFrom('org_a', 'org_a', 'org_a', 'org_b'),
    path: fc.constantFrom(null, '/a'),
    params: fc.dictionary(fc.constantFrom('k', 'tel'), fc.constantFrom('', 'a', 'b', '+15062345678', '1234567')),
  })
  const status = fc.constantFrom('open' as const, 'resolved' as const, 'muted' as const)
  await fc.assert(
    fc.asyncProperty(
      fc.array(anEvent, { maxLength: 50 }),
      rule,
      fc.boolean(),
      status,
      async (all, rule, isVolume, status) => {
        const input: AlertInput = isVolume
          ? { ...volumeInput, vendors: rule.vendors, volume: { op: 'lte', count: 1, event: 'view' } }
          : { ...validationInput, ...rule }
        const trouble = problemWith(input, { status, evidence: null }, { retainedFrom: NOON - 9 * DAY_MS })
        const { issue, rule: alert } = trouble
        if (!alert) throw new Error('no rule')
        const judge = judgeOf([alert])
        const events = all
          .map(({ ago, ...values }) => ({ ...values, receivedAt: NOON - ago }))
          .sort((a, b) => a.receivedAt - b.receivedAt)
          .map((values, index) => eventOf({ ...values, seq: index + 1 }))
          // Events received before the alert was saved were not evaluated.
          .map((event) => ({ ...event, violations: event.seq % 5 === 0 ? null : judge(event) }))
        using history = await warehouseWith(events)

        const here = events
          .filter(
            ({ orgId, domainId, receivedAt }) =>
              orgId === 'org_a' && domainId === 'dom_shop' && receivedAt >= trouble.retainedFrom,
          )
          .reverse()
        const bad = here.filter(
          ({ violations, receivedAt }) =>
            violations?.includes(issue.alertId) &&
            receivedAt >= issue.firstSeenAt &&
            receivedAt <= (status === 'resolved' ? issue.lastSeenAt : NOON),
        )
        const [isInScope, breaks] = [compileFilters(alert.filters ?? []), compileViolation(alert)]
        const good = here.filter(
          (event) =>
            (rule.vendors.length === 0 || rule.vendors.includes(event.vendor)) &&
            event.receivedAt >= issue.firstSeenAt - 7 * DAY_MS &&
            isInScope(event) &&
            (isVolume ? event.event === 'view' : !event.violations?.includes(issue.alertId) && !breaks(event)),
        )
        const alike = good.find(({ vendor, event }) => vendor === bad[0]?.vendor && event === bad[0]?.event)
        const found = await samplesOf(trouble, history)
        expect(seqs(found.events)).toEqual(seqs(bad).slice(0, MAX_EVENTS))
        expect(seqs([found.badSample])).toEqual([bad[0]?.seq])
        // SQL cannot detect phone numbers, so an event that may contain one is not considered valid.
        const isExact = !JSON.stringify(rule.conditions).includes('contains_phone')
        if (isVolume || isExact) expect(seqs([found.goodSample])).toEqual([(bad[0] ? alike : good[0])?.seq])
        else if (found.goodSample) expect(seqs(good)).toContain(found.goodSample.seq)
      },
    ),
    { numRuns: 60 },
  )
})

const { orgId, violations, ...kept } = eventOf({ seq: 7, params: { value: '', to: 'a***@e***.com' } })

describe('the sample stored with the finding', () => {
  const evidence = findingOf({ sample: kept, sampleSeq: 7 })

  test.each<[string, Partial<IssueProblem>, Partial<IssueRecord>, object | null]>([
    ['replaces events that were deleted', {}, { evidence }, { ...kept, violations: ['alr_validation'] }],
    [
      'is the only sample for a deleted rule',
      { rule: null },
      { evidence },
      { ...kept, violations: ['alr_validation'] },
    ],
    [
      'is omitted when it has unknown fields',
      {},
      { evidence: findingOf({ sample: { ...kept, colour: 'red' } }) },
      null,
    ],
    ['can be missing', {}, { evidence: findingOf() }, null],
    ['can be missing together with the finding', {}, { evidence: null }, null],
  ])('%s', async (_, others, issue, expected) => {
    using history = await warehouseWith([])
    const samples = await samplesOf(problemWith(validationInput, issue, others), history)
    expect(samples).toEqual({ events: [], badSample: expected as typeof samples.badSample, goodSample: null })
  })

  test('no events are read for a deleted rule, because its personal fields are unknown', async () => {
    const trouble = problemWith(validationInput, { evidence: null }, { rule: null })
    const samples = await samplesOf(trouble, { query: () => Promise.reject(new Error('unexpected query')) })
    expect(samples).toEqual({ events: [], badSample: null, goodSample: null })
  })
})

describe('a valid event', () => {
  const broken = eventOf({
    seq: 50,
    params: { value: '' },
    host: 'shop.example',
    violations: ['alr_validation'],
    receivedAt: NOON - 4 * HOUR_MS,
  })
  const good = (values: Partial<StoredEvent>) =>
    eventOf({ params: { value: '9' }, receivedAt: NOON - 4 * HOUR_MS, ...values })

  test.each<[string, StoredEvent[], number | null]>([
    ['is the newest', [good({ seq: 1 }), good({ seq: 2 })], 2],
    [
      'has the same vendor and event as the violating one, even if it is older',
      [good({ seq: 1 }), good({ seq: 2, vendor: 'meta' }), good({ seq: 3, event: 'view' })],
      1,
    ],
    ['is missing rather than from another vendor', [good({ seq: 1, vendor: 'meta' })], null],
    ['is missing rather than another event', [good({ seq: 1, event: 'view' })], null],
    [
      'is from the same host, even if it is older',
      [
        good({ seq: 1, host: 'shop.example', receivedAt: NOON - 30 * HOUR_MS }),
        good({ seq: 2, host: 'm.shop.example' }),
        good({ seq: 3, host: 'm.shop.example', receivedAt: NOON - 1 }),
      ],
      1,
    ],
    [
      'is from another host rather than missing',
      [good({ seq: 1, host: 'm.shop.example' }), good({ seq: 2, host: null })],
      2,
    ],
    ['can be a week older than the issue', [good({ seq: 1, receivedAt: NOON - 5 * HOUR_MS - 7 * DAY_MS })], 1],
    [
      'is not more than a week older than the issue',
      [good({ seq: 1, receivedAt: NOON - 5 * HOUR_MS - 7 * DAY_MS - 1 })],
      null,
    ],
    ['can violate another rule', [good({ seq: 1, violations: ['alr_other'] })], 1],
    ['was valid when it was received', [good({ seq: 1, violations: ['alr_validation'] })], null],
    ['is valid under the current rule', [good({ seq: 1, params: { value: ' ' } })], null],
  ])('%s', async (_, events, expected) => {
    using history = await warehouseWith([...events, broken])
    const { goodSample, badSample } = await samplesOf(problemWith(validationInput), history)
    expect(seqs([goodSample, badSample])).toEqual([expected ?? undefined, 50])
  })
})
