import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type TestApp, testApp } from '../test-app.ts'
import { newOrganization, type TestOrganization } from './configured-organization.fixture.ts'

let world: TestApp
beforeAll(async () => {
  world = await testApp()
})
afterAll(() => world[Symbol.asyncDispose]())

/** Names that YAML and keys must not change: quotes, numbers, placeholders, other scripts, duplicates. */
const name = fc.oneof(
  fc.constantFrom(
    'Shop',
    'shop',
    '404',
    'true',
    '- a: b',
    '日本',
    'Käse "x"',
    '$' + '{HOME}',
    "it's",
    '# no',
    '~',
    'a\\b',
  ),
  fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
    .filter((text) => text.trim() === text && !/\p{Cc}/u.test(text) && text.isWellFormed()),
)
const some = <T>(values: readonly T[]) => fc.constantFrom(...values)
const optional = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined })
const channel = fc.oneof(
  some([
    { type: 'email', target: 'owners' },
    { type: 'email', target: 'ann@example.com, ben@example.com' },
    { type: 'webhook', target: 'https://hooks.example.com/x' },
    { type: 'team_chat', target: 'https://hooks.slack.com/services/T0/B0/x' },
  ]),
)
const condition = fc.record({
  // A parameter that begins with $ is a field of the event.
  parameter: name.map((text) => `p${text}`),
  op: fc.constant('equals'),
  values: fc.array(name, { minLength: 1, maxLength: 3 }),
})
const alert = fc.record(
  {
    name,
    domains: fc.array(fc.nat(9), { maxLength: 3 }),
    severity: some(['low', 'high', 'critical'] as const),
    enabled: fc.boolean(),
    timezone: some(['UTC', 'Europe/Berlin']),
    vendors: fc.array(some(['Meta Pixel', 'Google Analytics 4']), { maxLength: 2 }),
    items: fc.array(condition, { minLength: 1, maxLength: 3 }),
    filters: optional(fc.array(condition, { maxLength: 2 })),
    channels: fc.array(channel, { minLength: 1, maxLength: 3 }),
    escalation: optional(
      fc.record({
        steps: fc
          .array(channel, { maxLength: 1 })
          .map((channels) => channels.map((one) => ({ afterMinutes: 30, channels: [one] }))),
      }),
    ),
    impactValue: optional(fc.nat(1000)),
    hook: optional(fc.nat(9)),
  },
  { requiredKeys: ['name', 'items', 'channels'] },
)
const organization = fc.record({
  domains: fc.uniqueArray(name, { maxLength: 4, selector: (one) => one.normalize('NFC').toLowerCase() }),
  project: optional(name),
  hooks: fc.array(name, { maxLength: 2 }),
  labels: fc.uniqueArray(name, { maxLength: 3, selector: (one) => one.normalize('NFC').toLowerCase() }),
  alerts: fc.array(alert, { maxLength: 5 }),
  rrule: optional(some(['FREQ=DAILY', 'FREQ=WEEKLY;BYDAY=SU'])),
})
type Random = typeof organization extends fc.Arbitrary<infer T> ? T : never

async function build(
  { call }: TestOrganization,
  { domains, project, hooks, labels, alerts, rrule }: Random,
): Promise<void> {
  const make = async (path: string, body: object) => String((await call('POST', path, body)).id)
  const ids: string[] = []
  for (const one of domains) ids.push(await make('/v1/domains', { name: one }))
  if (project !== undefined) await make('/v1/projects', { name: project, domainIds: ids.slice(0, 2) })
  const hookIds: string[] = []
  for (const [n, label] of hooks.entries()) {
    hookIds.push(
      await make('/v1/integrations', {
        provider: 'webhook',
        label,
        config: { url: `https://hooks.example.com/${n}`, format: 'ntfy' },
      }),
    )
  }
  for (const [n, label] of labels.entries()) {
    await call('POST', '/v1/insights/labels/assign', { label, members: [{ vendor: 'Meta Pixel', event: `e${n}` }] })
  }
  for (const { domains: watched = [], hook, items, channels, ...rest } of alerts) {
    const domainIds = [...new Set(watched.flatMap((n) => ids[n] ?? []))]
    const target = hookIds[hook ?? 9]
    await make('/v1/alerts', {
      ...rest,
      ...(domainIds.length > 0 ? { domainIds } : {}),
      alertType: 'data_validation',
      period: '1h',
      conditions: { logic: 'any', items },
      channels: [...channels, ...(target === undefined ? [] : [{ type: 'webhook', target }])],
    })
  }
  if (rrule !== undefined) {
    const from = Date.UTC(2026, 1, 1, 2)
    await make('/v1/maintenance', {
      name: 'Night',
      from,
      to: from + 3_600_000,
      rrule,
      timezone: 'Europe/Berlin',
      domainIds: ids.length > 0 ? ids : null,
    })
  }
}

test('a random organization, exported and applied to an empty one, is equal', async () => {
  await fc.assert(
    fc.asyncProperty(organization, async (random) => {
      const [org, other] = [newOrganization(world), newOrganization(world)]
      await build(org, random)
      const text = await org.export()
      expect(await org.apply({ 'a.yaml': text })).toEqual([])
      expect(await org.export()).toBe(text)
      // The values of the placeholders in the export.
      const env = await org.variables()
      await other.apply({ 'a.yaml': text }, { env })
      expect(await other.export()).toBe(text)
      expect((await other.plan({ 'a.yaml': text }))[0]).toBe('No changes.')
    }),
    { numRuns: 25 },
  )
}, 600_000)
