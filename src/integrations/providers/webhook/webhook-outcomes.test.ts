import { testKills } from '../../delivery/kill-table.fixture.ts'
import { testOutcomes } from '../../delivery/outcome-table.fixture.ts'
import { receiver } from '../../transport/receiver.fixture.ts'
import { webhook } from './webhook.ts'

const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`
// The status says enough: nothing else of the answer is looked at.
const faults = {}

testOutcomes('an integration of webhook', {
  provider: webhook,
  integration: (url) => ({ config: { url }, secrets: { secret } }),
  success: () => new Response('ok'),
  expected: (status) => (status === 410 ? { verdict: 'broken', status: 'disabled' } : null),
  faults,
})

testOutcomes('the URL of a webhook', {
  provider: webhook,
  target: (url) => `${url}/in`,
  success: () => new Response('ok'),
  faults,
})

testKills('a webhook', {
  type: 'webhook',
  server: () => receiver(),
  integration: ({ url }) => ({ config: { url }, secrets: { secret } }),
})
