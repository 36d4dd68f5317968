import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { requestsOfHar } from '../../src/browser/har-requests.ts'
import { type Condition, checkRule } from '../../src/conditions/condition.ts'
import { PLAIN_PRIVACY } from '../../src/conditions/privacy-settings.ts'
import { aRule, KEYS } from '../../src/conditions/random-rules.fixture.ts'
import { ga4, harOf } from '../../src/gate/har.fixture.ts'
import { applyRules, judgeRules } from '../../src/gate/judge-recording.ts'
import { readRules } from '../../src/gate/read-rules.ts'
import { readRecording } from '../../src/gate/recording.ts'
import { type TestApp, testApp } from '../test-app.ts'

/*
 * One event gets the same verdict from the release gate, from the preview of an alert and on arrival: random rules and
 * random requests of a vendor, judged by all three.
 */

const RULES = 12
const REQUESTS = 25
const RUNS = 12
const SESSION = 'shop.har'

let world: TestApp
beforeAll(async () => {
  world = await testApp()
})
afterAll(() => world?.[Symbol.asyncDispose]())

const value = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    'a',
    'A',
    'ab',
    '7',
    '12',
    '-0.5',
    '1e3',
    'jane@example.com',
    '+49 30 901820',
    "it's",
    '😀',
    'é',
  ),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
)
const aRequest = fc
  .record({
    event: fc.constantFrom('purchase', 'page_view', 'a', "it's"),
    data: fc.dictionary(fc.constantFrom(...KEYS.map((key) => `ep.${key}`)), value, { maxKeys: 5 }),
    page: fc.constantFrom('https://shop.example/', 'https://shop.example/cart/4711', 'https://blog.example/a'),
  })
  .map(({ event, data, page }) => ({ event, data, page }))
/** A rule as an alert. Its parameters name keys of the requests. */
const anAlert = aRule
  .map(({ rule: { filters, conditions, conditionGroups } }) => {
    const named = (items: readonly Condition[]) =>
      items.map((item) => (KEYS.includes(item.parameter) ? { ...item, parameter: `ep.${item.parameter}` } : item))
    return {
      filters: named(filters ?? []),
      conditionGroups: (conditionGroups ?? []).map((group) => ({ ...group, items: named(group.items) })),
      ...(conditions && { conditions: { ...conditions, items: named(conditions.items) } }),
    }
  })
  .filter((rule) => {
    const { conditions, conditionGroups } = rule
    if (!conditions && conditionGroups.length === 0) return false
    try {
      checkRule(rule)
      return true
    } catch {
      return false
    }
  })

const alertWith = (rule: object, index: number, domainId: string) => ({
  name: `Rule ${index}`,
  alertType: 'data_validation',
  period: '1h',
  channels: [{ type: 'email', target: 'ann@example.com' }],
  domainId,
  ...rule,
})

test('the gate, the preview and the collector agree on every event', async () => {
  let violations = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(anAlert, { minLength: RULES, maxLength: RULES }),
      fc.array(aRequest, { minLength: REQUESTS, maxLength: REQUESTS }),
      async (rules, requests) => {
        const { body: domain } = await world.call('POST', '/v1/domains', {
          body: { name: `Shop ${Bun.randomUUIDv7()}` },
        })
        const alerts = rules.map((rule, index) => alertWith(rule, index, domain.id))
        const saved = await world.call('POST', '/v1/alerts/bulk', { body: { alerts } })
        expect(saved.body).toMatchObject({ created: RULES, failed: 0 })
        const har = harOf(
          requests.map(({ event, data, page }, n) => ga4(event, { ...data, 'epn.n': String(n) }, { page })),
        )
        const files = [{ name: SESSION, requests: requestsOfHar(har) ?? [] }]

        // On arrival.
        for (const { hit } of files[0]?.requests ?? []) {
          const { pageUrl, userAgent, ts: _, ...sent } = hit
          const batch = { sessionId: SESSION, userAgent, page: { url: pageUrl }, hits: [sent] }
          expect((await world.collect(domain.token, batch)).status).toBe(202)
        }
        const { body: stored } = await world.call('GET', `/v1/events?domainId=${domain.id}&limit=200`)
        const { body: listed } = await world.call('GET', `/v1/alerts?domainId=${domain.id}&limit=200`)
        const onArrival = new Map<string, string[]>(
          stored.events.map((event: { params: Record<string, string>; violations: string[] | null }) => [
            event.params['epn.n'],
            [...(event.violations ?? [])].sort(),
          ]),
        )
        expect(onArrival.size).toBe(REQUESTS)

        // The gate.
        const gateDomain = { id: domain.id, orgId: 'org', nameVendor: () => null }
        const applied = applyRules(readRules(listed, gateDomain), gateDomain, PLAIN_PRIVACY)
        expect(applied.skipped.filter(({ reason }) => !reason?.includes('label'))).toEqual([])
        const skipped = new Set(applied.skipped.map(({ id }) => id))
        const recording = readRecording(files, gateDomain, applied.judge)
        for (const { event } of recording.events) {
          const arrived = onArrival.get(event.params['epn.n'] ?? '')?.filter((id) => !skipped.has(id)) ?? []
          const judged = [...(event.violations ?? [])].sort()
          if (judged.join() !== arrived.join()) expect({ event, judged }).toEqual({ event, judged: arrived })
          violations += judged.length
        }
        const counted = new Map(
          judgeRules(recording, applied, gateDomain, PLAIN_PRIVACY).map(({ check, findings }) => [
            check.id,
            findings.reduce((sum, { count }) => sum + count, 0),
          ]),
        )

        // The preview.
        for (const alert of listed.alerts as { id: string; name: string }[]) {
          if (skipped.has(alert.id)) continue
          const rule = alerts.find(({ name }) => name === alert.name)
          const { body: preview } = await world.call('POST', '/v1/alerts/preview', { body: { rule, hours: 1 } })
          expect({ rule, matched: preview.matched }).toEqual({ rule, matched: counted.get(alert.id) ?? 0 })
        }
      },
    ),
    { numRuns: RUNS, endOnFailure: true },
  )
  // Agreement only on events without violations would prove little.
  expect(violations).toBeGreaterThan(RUNS * RULES * REQUESTS * 0.05)
})
