import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { checkRule } from '../conditions/condition.ts'
import { resolveLabels } from '../conditions/label-conditions.ts'
import { anEvent, aRule, membersOf } from '../conditions/random-rules.fixture.ts'
import { MINUTE_MS } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import { WarehouseFixture } from '../warehouse/warehouse.fixture.ts'
import { alertOf, domainsNamed, validationInput } from './alert.fixture.ts'
import type { Alert } from './alert.ts'
import { parsePeriod } from './alert-period.ts'
import { wholeWindows } from './alert-windows.ts'
import { judgeOf } from './judge.fixture.ts'
import { judgeHistory } from './judge-past-events.ts'

const EVENTS = 125
const RULES = 40
const RUNS = 5
const DOMAINS = ['dom_1', 'dom_2', 'dom_3']
const VENDORS = ['GA4', 'ab', "it's"]

/** A name so long that SQL searches the parameter map for it. */
const LONG = {
  op: 'any' as const,
  items: [
    { parameter: '*', op: 'contains' as const, values: [...Array.from({ length: 99 }, (_, n) => `none ${n}`), 'a'] },
  ],
}

const some = (names: readonly string[]) => fc.option(fc.subarray([...names], { minLength: 1 }), { nil: undefined })
/** Alerts with a scope, filters, conditions and groups. */
const anAlert = fc
  .record({
    rule: aRule,
    vendors: some(VENDORS),
    domainIds: some(DOMAINS),
    domainId: fc.option(fc.constantFrom(...DOMAINS), { nil: undefined, freq: 3 }),
    isLong: fc.boolean(),
  })
  .map(({ rule: { rule }, vendors, domainIds, domainId, isLong }) => {
    checkRule(rule)
    const { conditions, conditionGroups = [], filters = [] } = rule
    const { conditions: _none, ...plain } = validationInput
    const scope = { ...(vendors && { vendors }), ...(domainIds && { domainIds }), ...(domainId && { domainId }) }
    return {
      ...plain,
      ...scope,
      period: '1m',
      filters: [...filters],
      conditionGroups: [...conditionGroups, ...(isLong ? [LONG] : [])],
      ...(conditions && { conditions }),
    }
  })
const aSent = fc.record({
  event: anEvent,
  domainId: fc.constantFrom(...DOMAINS),
  vendor: fc.constantFrom(...VENDORS),
})

/** Stores one event a minute: some in a merged file, some in two fresh files, the rest still in the spool. */
async function receive(fixture: WarehouseFixture, events: readonly Omit<StoredEvent, 'seq' | 'receivedAt'>[]) {
  for (const [index, event] of events.entries()) {
    await fixture.add([event])
    fixture.clock.advance(MINUTE_MS)
    if ([60, 80, 100].includes(index)) await fixture.flush()
    if (index === 60) await fixture.compact()
  }
}

test('the verdict at ingestion equals the SQL result for scope, filters, conditions and groups', async () => {
  let pairs = 0
  let violations = 0
  const compare = async (
    inputs: Parameters<typeof alertOf>[0][],
    sent: { event: StoredEvent; domainId: string; vendor: string }[],
    regions: 'DE'[],
  ) => {
    await using fixture = await WarehouseFixture.open()
    const start = fixture.clock.now()
    const alerts = inputs.map((input, index): Alert => alertOf(input, `alr_${index}`))
    const judge = judgeOf(
      alerts.map((alert) => resolveLabels(alert, membersOf)),
      () => regions,
    )
    const events = sent.map(({ event: { seq, receivedAt, ...event }, domainId, vendor }) => ({
      ...event,
      orgId: 'org_a',
      domainId,
      vendor,
    }))
    await receive(fixture, events)
    const judgedOnArrival = fixture.events.map((event) => new Set(judge(event)))
    const windows = wholeWindows(parsePeriod('1m'), 'UTC', start, fixture.clock.now())
    const parts = {
      warehouse: fixture.warehouse,
      domains: domainsNamed(...DOMAINS),
      privacy: { regions, patterns: [] },
      membersOf,
    }
    for (const alert of alerts) {
      const { findings, exact } = await judgeHistory(alert, windows, parts)
      expect(exact).toBe(true)
      for (const [index, event] of fixture.events.entries()) {
        const found = findings[index]?.map(({ domainId }) => domainId) ?? []
        const expected = judgedOnArrival[index]?.has(alert.id) ? [event.domainId] : []
        if (found.join() !== expected.join())
          expect({ alert, event, inSql: found }).toEqual({ alert, event, inSql: expected })
        pairs++
        violations += expected.length
      }
    }
  }
  await fc.assert(
    fc.asyncProperty(
      fc.array(anAlert, { minLength: RULES, maxLength: RULES }),
      fc.array(aSent, { minLength: EVENTS, maxLength: EVENTS }),
      fc.constantFrom<'DE'[]>([], ['DE']),
      compare,
    ),
    // Prints only the difference, because the other events and rules would obscure it. Does not shrink, because
    // shrinking takes hours.
    { numRuns: RUNS, endOnFailure: true, reporter: report },
  )
  expect(pairs).toBeGreaterThanOrEqual(20_000)
  // Agreement only on events without violations would prove little.
  expect(violations).toBeGreaterThan(pairs / 20)
})

function report<T>(run: fc.RunDetails<T>): void {
  if (run.failed) throw new Error(`seed ${run.seed}, after ${run.numRuns} runs: ${String(run.errorInstance)}`)
}
