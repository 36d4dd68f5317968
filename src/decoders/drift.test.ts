import { testDecoder } from './decoder-cases.ts'
import { drift } from './drift.ts'

// https://devdocs.drift.com/docs/drift-methods
testDecoder(drift, [
  {
    name: 'an event',
    url: 'https://event.api.drift.com/track',
    body: JSON.stringify({ event: 'Order Completed', orgId: 101, userId: 'u1', attributes: { value: 42.5 } }),
    account: '101',
    events: ['Order Completed'],
    params: { 'attributes.value': '42.5' },
  },
  {
    name: 'a visitor',
    url: 'https://event.api.drift.com/identify',
    body: JSON.stringify({ orgId: 101, userId: 'u1' }),
    account: '101',
    events: ['identify'],
  },
  { name: 'a message', url: 'https://conversation.api.drift.com/messages', body: '{}', events: [] },
  {
    name: 'a body that is not JSON',
    url: 'https://event.api.drift.com/track',
    body: 'x',
    events: [],
    error: 'Drift: the body is not JSON',
  },
  {
    name: 'the library',
    url: 'https://js.driftt.com/include/1700000000000/abc123def.js',
    account: 'abc123def',
    kind: 'library',
    events: [''],
  },
  { name: "the vendor's website", url: 'https://www.drift.com/track', events: null },
])
