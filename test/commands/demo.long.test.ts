import { expect, test } from 'bun:test'
import { until } from '../run-program.ts'
import { startDemo } from '../web/demo.ts'

test('the demo data shows a regression, its cause, exposed personal data and missing tags', async () => {
  await using demo = await startDemo()
  const { get } = demo
  const soon = <T>(what: string, ask: () => Promise<T | null>) => until(what, ask, 300_000)

  const release = await soon('the status of the release', async () => {
    const { changes } = (await get('/v1/changes')) ?? { changes: [] }
    return (
      changes.find(({ source, status }: Record<string, string>) => source === 'pipeline' && status === 'regressed') ??
      null
    )
  })
  expect(release.findings.items).toContainEqual(
    expect.objectContaining({
      kind: 'key_lost',
      harmful: true,
      vendor: 'Google Analytics 4',
      event: 'add_to_cart',
      key: 'ep.currency',
    }),
  )

  const found = await soon('an e-mail address in a parameter', async () => {
    const { findings } = (await get('/v1/compliance/pii')) ?? { findings: [] }
    return findings.find(({ key }: { key: string }) => key === 'ep.form_field') ?? null
  })
  expect(found).toMatchObject({ kind: 'email', vendor: 'Google Analytics 4', example: 'j***@e***.com' })

  const cause = await soon('the live release as a cause', async () => {
    const { causes } = (await get('/v1/insights/causes')) ?? { causes: [] }
    // The release from three days ago is a different cause.
    return causes.find(({ title }: { title: string }) => title === 'Version 42') ?? null
  })
  expect(cause).toMatchObject({ kind: 'release', severity: 'high', impactValue: 12_000 })
  const evidence = await soon('the evidence of the issue', () => get(`/v1/issues/${cause.issueIds[0]}/evidence`))
  expect(evidence.changes).toMatchObject([{ id: cause.changeId }])

  const { suggestions } = await soon('suggestions', () => get('/v1/insights/suggestions'))
  expect(suggestions.length).toBeGreaterThanOrEqual(3)

  const path = demo.printed().match(/\/v1\/insights\/reconcile\S+/)?.[0] ?? ''
  const { vendors } = await soon('the missing orders', () => get(path))
  for (const vendor of ['Google Analytics 4', 'Meta Pixel']) {
    const own = vendors.find((one: { vendor: string }) => one.vendor === vendor)
    expect(own.missing).toBeGreaterThan(0)
    expect(own.missingValue).toBeGreaterThan(0)
    expect(own.capturePct).toBeGreaterThan(50)
  }
})

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

interface ListedIssue {
  id: string
  title: string
  severity: string
  status: string
  firstSeenAt: number
  notes: string | null
}

test('the demo starts with history: resolved, known and new issues, and the status of all other items', async () => {
  await using demo = await startDemo()
  const { get } = demo
  const readyAt = Date.now()
  const { issues } = (await get('/v1/issues?limit=100')) as { issues: ListedIssue[] }
  const daysAgo = ({ firstSeenAt }: ListedIssue) => (readyAt - firstSeenAt) / DAY_MS
  const issueOf = (title: string) => {
    const found = issues.find((one) => one.title.startsWith(title))
    if (!found) throw new Error(`no issue ${title} among ${issues.map((one) => one.title).join('; ')}`)
    return found
  }
  const solved = issueOf('E-mail address in a form field')
  expect([solved.status, solved.severity]).toEqual(['resolved', 'high'])
  expect(daysAgo(solved)).toBeGreaterThan(7)
  const { history } = await get(`/v1/issues/${solved.id}`)
  const kinds = history.map(({ kind }: { kind: string }) => kind).filter((kind: string) => kind !== 'notified')
  expect(kinds).toEqual(expect.arrayContaining(['opened', 'acknowledged', 'resolved', 'note']))
  const known = issueOf('Video without a title')
  expect([known.status, known.severity]).toEqual(['muted', 'low'])
  expect(known.notes).toContain('third party')
  expect(daysAgo(known)).toBeGreaterThan(9)
  const lost = issueOf('Cart without a currency')
  expect([lost.status, lost.severity]).toEqual(['acknowledged', 'medium'])
  expect(daysAgo(lost)).toBeGreaterThan(2.5)

  const { domains } = await get('/v1/domains')
  expect(domains.map(({ name }: { name: string }) => name).sort()).toEqual([
    'magazine.example',
    'outlet.example',
    'shop.example',
  ])
  const fallen = issueOf('Automatic signals: outlet.example: all traffic of the domain dropped')
  expect(daysAgo(fallen)).toBeGreaterThan(0.7)
  expect(issues.filter(({ title }) => title.includes('signals: shop') || title.includes('signals: magazine'))).toEqual(
    [],
  )

  const { signals } = await get('/v1/auto/signals?limit=100')
  const byState = Map.groupBy(signals as { state: string; domainId: string }[], ({ state }) => state)
  expect(byState.get('learning') ?? []).toEqual([])
  expect((byState.get('normal') ?? []).length).toBeGreaterThan(8)
  const outletId = domains.find(({ name }: { name: string }) => name === 'outlet.example').id
  const silent = byState.get('silent') ?? []
  expect(silent.length).toBeGreaterThan(0)
  expect(new Set(silent.map(({ domainId }) => domainId))).toEqual(new Set([outletId]))

  const { projects } = await get('/v1/projects')
  expect(projects.map(({ name }: { name: string }) => name).sort()).toEqual(['Content', 'Shops'])
  const { labels } = await get('/v1/insights/labels')
  expect(labels.map(({ label }: { label: string }) => label)).toContain('Purchase')
  const { members } = await get('/v1/org/members')
  expect(members).toHaveLength(3)
  const { deliveries } = await get('/v1/notifications/deliveries?limit=100')
  expect(deliveries.length).toBeGreaterThan(3)
  expect(deliveries.some(({ createdAt }: { createdAt: number }) => readyAt - createdAt > 7 * DAY_MS)).toBe(true)

  const verdicts = await until(
    'the status of both releases',
    async () => {
      const { changes } = (await get('/v1/changes?limit=100')) ?? { changes: [] }
      const found = new Map(
        changes
          .filter(({ source }: { source: string }) => source === 'pipeline')
          .map(({ ref, status }: { ref: string; status: string }) => [ref, status]),
      )
      return [...found.values()].includes('watching') ? null : found
    },
    90_000,
  )
  expect(verdicts).toEqual(
    new Map([
      ['release-41', 'regressed'],
      ['release-40', 'clean'],
    ]),
  )
  const consent = await until(
    'events from visitors who denied consent',
    async () => {
      const { findings } = (await get('/v1/compliance/consent')) ?? { findings: [] }
      return findings.length > 0 ? findings : null
    },
    90_000,
  )
  expect(consent).toMatchObject([{ vendor: 'Meta Pixel', kind: 'after_denial', domainIds: [outletId] }])
})
