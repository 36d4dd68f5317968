import { testDecoder } from './decoder-cases.ts'
import { fullstory } from './fullstory.ts'

// https://developer.fullstory.com/browser/getting-started/
testDecoder(fullstory, [
  {
    name: 'a page',
    url: 'https://rs.fullstory.com/rec/page',
    body: JSON.stringify({ OrgId: 'o-1A2B-na1', Url: 'https://shop.example/', Base: 'https://shop.example/' }),
    account: 'o-1A2B-na1',
    events: ['page'],
    params: { Url: 'https://shop.example/' },
  },
  {
    name: 'a page through a relay',
    url: 'https://relay.shop.example/rec/page',
    body: JSON.stringify({ OrgId: 'o-1A2B-na1', Url: 'https://shop.example/' }),
    account: 'o-1A2B-na1',
    events: ['page'],
  },
  {
    name: 'a server event',
    url: 'https://api.fullstory.com/v2/events',
    body: JSON.stringify({ name: 'Order Completed', user: { uid: 'u1' }, properties: { revenue: 42.5 } }),
    events: ['Order Completed'],
    params: { uid: 'u1', 'properties.revenue': '42.5' },
  },
  {
    name: 'a session recording',
    url: 'https://rs.fullstory.com/rec/bundle/v2?OrgId=o-1A2B-na1&UserId=1&SessionId=2&PageId=3&Seq=1',
    body: '{"Seq":1}',
    events: [],
  },
  {
    name: 'a session recording through a relay',
    url: 'https://relay.shop.example/rec/bundle/v2?OrgId=o-1A2B-na1&UserId=1&SessionId=2',
    body: '{"Seq":1}',
    events: [],
  },
  { name: 'the library', url: 'https://edge.fullstory.com/s/fs.js', kind: 'library', events: [''] },
  {
    name: 'the settings',
    url: 'https://edge.fullstory.com/s/settings/o-1A2B-na1/v1/web',
    account: 'o-1A2B-na1',
    kind: 'library',
    events: [''],
  },
  {
    name: 'a malformed page',
    url: 'https://rs.fullstory.com/rec/page',
    body: '{',
    events: [],
    error: 'FullStory: the body is not JSON',
  },
  { name: 'the same path on another site', url: 'https://shop.example/rec/page', body: '{"id":1}', events: null },
  { name: "the vendor's website", url: 'https://www.fullstory.com/platform/', events: null },
])
