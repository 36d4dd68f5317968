import { expect, test } from 'bun:test'
import { testApp } from '../test-app.ts'
import { describeReport, expectedOf } from './bug-report.ts'

interface Report {
  hits: { url: string; method: string; body?: string }[]
  orders: { id: string; value: number; currency: string }[]
}
interface Expected {
  expected: Record<string, { captured: number; duplicates: number }>
}

const HOUR_MS = 3_600_000

/** Returns each vendor's reconciliation after these requests. */
async function reconciled({ hits, orders }: Report) {
  await using world = await testApp()
  const { id, token } = (await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })).body
  const sold = orders.map(({ id, value, currency }) => ({ id, value, currency, at: world.clock.now() - HOUR_MS }))
  expect((await world.call('POST', '/v1/orders', { body: { domainId: id, orders: sold } })).status).toBe(200)
  expect((await world.collect(token, { hits })).body).toMatchObject({ rejected: 0 })
  const { vendors } = (await world.call('GET', `/v1/insights/reconcile?domainId=${id}&days=1`)).body
  return Object.fromEntries(vendors.map(({ vendor, ...row }: { vendor: string }) => [vendor, row]))
}

describeReport('a purchase reported by both browser and server', () => {
  const read = () => ({
    report: expectedOf<Report>('09-browser-and-server-dedup.json'),
    ...expectedOf<Expected>('09-browser-and-server-dedup.expected.json'),
  })

  test('is not counted as a duplicate if the event IDs are equal', async () => {
    const { report, expected } = read()
    const found = await reconciled(report)
    expect(found).toMatchObject(expected)
    for (const vendor of Object.keys(expected)) {
      expect(found[vendor]).toMatchObject({ matched: 1, browserOnly: 0, serverOnly: 0, matchedPct: 100 })
    }
  })

  test("is counted as a duplicate if the server's event ID differs", async () => {
    const { report, expected } = read()
    const isServer = ({ url }: { url: string }) => !url.includes('facebook.com/tr') && !url.includes('analytics.tiktok')
    const hits = report.hits.map((hit) =>
      isServer(hit) && hit.body ? { ...hit, body: hit.body.replace('purchase.O-7', 'server.O-7') } : hit,
    )
    const found = await reconciled({ ...report, hits })
    for (const vendor of Object.keys(expected)) {
      const none = { captured: 1, duplicates: 1, matched: 0, browserOnly: 1, serverOnly: 1, matchedPct: 0 }
      expect(found[vendor]).toMatchObject(none)
    }
  })
})
