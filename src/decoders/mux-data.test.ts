import { testDecoder } from './decoder-cases.ts'
import { muxData } from './mux-data.ts'

const body = JSON.stringify({
  events: [
    { e: 'viewstart', ake: 'env1', vtt: 'Intro' },
    { e: 'playing', ake: 'env1' },
  ],
})

// https://www.npmjs.com/package/mux-embed
testDecoder(muxData, [
  {
    name: 'video events',
    url: 'https://env1.litix.io/',
    body,
    account: 'env1',
    events: ['viewstart', 'playing'],
    params: { vtt: 'Intro' },
  },
  {
    name: "on the customer's host",
    url: 'https://metrics.shop.example/',
    body,
    account: 'env1',
    events: ['viewstart', 'playing'],
  },
  {
    name: 'an event by image request',
    url: 'https://img.litix.io/a.gif?ake=env1&e=hb',
    account: 'env1',
    events: ['hb'],
  },
  { name: 'an unrelated body', url: 'https://shop.example/', body: '{"events":[]}', events: null },
])
