import { expect, test } from 'bun:test'
import { testApp } from '../test-app.ts'
import { describeReport, reportLines } from './bug-report.ts'

describeReport('secrets in server requests', () => {
  test('are not stored', async () => {
    await using t = await testApp()
    const { body: domain } = await t.call('POST', '/v1/domains', { body: { name: 'Shop' } })
    const hits = reportLines('04-secrets-in-server-requests.ndjson')
    const { status, body } = await t.collect(domain.token, { hits })
    expect([status, body.accepted + body.rejected]).toEqual([202, hits.length])
    await t.run('flush')
    const stored = await t.call('GET', '/v1/events?limit=200')
    expect(stored.body.events.length).toBeGreaterThan(0)
    expect(JSON.stringify(stored.body)).not.toContain('SECRET')
  })
})
