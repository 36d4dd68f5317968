import { testDecoder } from './decoder-cases.ts'
import { vibes } from './vibes.ts'

// https://developer-platform.vibes.com/docs/implementing-vibes-tags
testDecoder(vibes, [
  {
    name: 'an action',
    url: 'https://tagtracking.vibescm.com/track?company_key=c1&action=purchase&order_id=A1',
    account: 'c1',
    events: ['purchase'],
    params: { order_id: 'A1' },
  },
  {
    name: 'an event in Europe without a name',
    url: 'https://tagtracking.eu.vibes.com/track',
    body: '{"company_key":"c1"}',
    account: 'c1',
    events: ['track'],
  },
  { name: "the vendor's website", url: 'https://www.vibes.com/track', events: null },
])
