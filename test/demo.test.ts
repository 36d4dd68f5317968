import { expect, setDefaultTimeout, test } from 'bun:test'
import { until } from './process.ts'
import { startDemo } from './web/demo.ts'

setDefaultTimeout(300_000)

test('the demo shows each answer on its data: what broke, what caused it, what is given away, what is missing', async () => {
  await using demo = await startDemo()
  const { get } = demo
  const soon = <T>(what: string, ask: () => Promise<T | null>) => until(what, ask, 90_000)

  const release = await soon('the verdict on the release', async () => {
    const { changes } = (await get('/v1/changes')) ?? { changes: [] }
    return (
      changes.find(({ source, status }: Record<string, string>) => source === 'pipeline' && status === 'regressed') ??
      null
    )
  })
  expect(release.findings.items).toContainEqual(
    expect.objectContaining({
      ...{ kind: 'key_lost', harmful: true, vendor: 'Google Analytics 4', event: 'add_to_cart', key: 'ep.currency' },
    }),
  )

  const found = await soon('an address in a parameter', async () => {
    const { findings } = (await get('/v1/compliance/pii')) ?? { findings: [] }
    return findings.find(({ key }: { key: string }) => key === 'ep.form_field') ?? null
  })
  expect(found).toMatchObject({ kind: 'email', vendor: 'Google Analytics 4', example: 'j***@e***.com' })

  const cause = await soon('the live release as a cause', async () => {
    const { causes } = (await get('/v1/insights/causes')) ?? { causes: [] }
    return causes.find(({ kind }: { kind: string }) => kind === 'release') ?? null
  })
  expect(cause).toMatchObject({ title: 'Version 42', severity: 'high', impactValue: 12_000 })
  const evidence = await get(`/v1/issues/${cause.issueIds[0]}/evidence`)
  expect(evidence.changes).toMatchObject([{ id: cause.changeId }])

  const { suggestions } = await get('/v1/insights/suggestions')
  expect(suggestions.length).toBeGreaterThanOrEqual(3)

  const path = demo.printed().match(/\/v1\/insights\/reconcile\S+/)?.[0] ?? ''
  const { vendors } = await get(path)
  for (const vendor of ['Google Analytics 4', 'Meta Pixel']) {
    const own = vendors.find((one: { vendor: string }) => one.vendor === vendor)
    expect(own.missing).toBeGreaterThan(0)
    expect(own.missingValue).toBeGreaterThan(0)
    expect(own.capturePct).toBeGreaterThan(50)
  }
})
