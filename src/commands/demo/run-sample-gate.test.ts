import { expect, test } from 'bun:test'
import { testApp } from '../../../test/test-app.ts'
import { runSampleGate } from './run-sample-gate.ts'
import { sampleAlerts } from './sample-alerts.ts'
import { HOSTS } from './sample-sites.ts'
import { callOf } from './simulated-program.ts'

test('the gate passes two releases of the shop, and fails the one that loses the transaction id', async () => {
  await using run = await testApp()
  const { clock, app, owner } = run
  const call = callOf(app, owner.apiKey)
  const { id: domainId } = (await call('POST', '/v1/domains', { name: HOSTS.shop })) as { id: string }
  const hook = { provider: 'webhook', label: 'On call', config: { url: 'https://hooks.example.com/' } }
  const { id: onCall } = (await call('POST', '/v1/integrations', hook)) as { id: string }
  for (const alert of sampleAlerts(domainId, onCall)) await call('POST', '/v1/alerts', alert)
  await runSampleGate(call, { version: 40, isBaseline: true }, clock.now())
  clock.advance(1)
  await runSampleGate(call, { version: 41 }, clock.now())
  clock.advance(1)
  await runSampleGate(call, { version: 42, isFaulty: true }, clock.now())
  const { runs } = (await call('GET', '/v1/gate-runs')) as { runs: object[] }
  expect(runs).toMatchObject([
    { ref: 'release-42', status: 'failed', problems: 2, domainId, approvedAt: null },
    { ref: 'release-41', status: 'passed', problems: 0 },
    { ref: 'release-40', status: 'passed', problems: 0, approvedAt: clock.now() - 2 },
  ])
})
