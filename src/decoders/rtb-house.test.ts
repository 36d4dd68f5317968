import { testDecoder } from './decoder-cases.ts'
import { rtbHouse } from './rtb-house.ts'

// https://docs.rtbhouse.com/tagging/
testDecoder(rtbHouse, [
  {
    name: "events in JSON, without the visitor's ID",
    url: 'https://us.creativecdn.com/tags/v2?type=json',
    body: JSON.stringify({
      th: 'Acc123',
      tags: [{ eventType: 'offer', offerIds: ['S1'] }, { eventType: 'uid', id: 'u1' }, { eventType: 'home' }],
    }),
    account: 'Acc123',
    events: ['offer', 'home'],
    params: { 'offerIds.0': 'S1' },
  },
  {
    name: 'events in the query',
    url: 'https://creativecdn.com/tags?id=pr_Acc123_orderstatus2_42.5_T1_S1,S2&id=pr_Acc123_uid_u1&cd=default',
    account: 'Acc123',
    events: ['orderstatus2'],
    params: { what: '42.5_T1_S1,S2', cd: 'default' },
  },
  { name: 'an ID sync', url: 'https://creativecdn.com/cm-notify?pi=x', events: [] },
  {
    name: 'the library',
    url: 'https://tags.creativecdn.com/Acc123.js',
    account: 'Acc123',
    events: [''],
    kind: 'library',
  },
  {
    name: 'a malformed body',
    url: 'https://ams.creativecdn.com/tags/v2?type=json',
    body: '{"th"',
    events: [],
    error: 'RTB House: the body is not JSON',
  },
  { name: 'another site', url: 'https://shop.example/tags?id=pr_Acc123_home', events: null },
])
