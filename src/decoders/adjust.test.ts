import { adjust } from './adjust.ts'
import { testDecoder } from './decoder-cases.ts'

// https://dev.adjust.com/en/sdk/web
testDecoder(adjust, [
  {
    name: 'an event',
    url: 'https://app.adjust.com/event',
    body: 'app_token=app1&event_token=ev1&revenue=42.5&currency=EUR',
    account: 'app1',
    events: ['ev1'],
    params: { revenue: '42.5' },
  },
  {
    name: 'a session',
    url: 'https://app.adjust.com/session',
    body: 'app_token=app1',
    account: 'app1',
    events: ['session'],
  },
  { name: "the visitor's attribution", url: 'https://app.adjust.com/attribution?app_token=app1', events: [] },
  { name: 'the library', url: 'https://cdn.adjust.com/adjust-latest.min.js', events: [''], kind: 'library' },
  { name: "the vendor's website", url: 'https://www.adjust.com/', events: null },
])
