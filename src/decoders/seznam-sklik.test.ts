import { testDecoder } from './decoder-cases.ts'
import { seznamSklik } from './seznam-sklik.ts'

// https://napoveda.sklik.cz/mereni-a-optimalizace/
testDecoder(seznamSklik, [
  {
    name: "a visitor's IDs",
    url: `https://c.seznam.cz/retargeting?id=1234&ids=${encodeURIComponent('{"eid":"e1","aid":{"a1":"x"}}')}`,
    account: '1234',
    events: ['retargeting'],
    params: { 'ids.eid': 'e1', 'ids.aid.a1': 'x' },
  },
  {
    name: 'retargeting',
    url: 'https://c.seznam.cz/retargeting?id=1234&url=https%3A%2F%2Fshop.example%2F&consent=1',
    account: '1234',
    events: ['retargeting'],
    params: { consent: '1' },
  },
  {
    name: 'a conversion',
    url: 'https://c.seznam.cz/conversion?id=1234&value=42.5&consent=0',
    account: '1234',
    events: ['conversion'],
  },
  {
    name: 'a current conversion',
    url: 'https://c.seznam.cz/conv?id=1234&value=42.5&orderId=A1',
    account: '1234',
    events: ['conversion'],
    params: { orderId: 'A1' },
  },
  { name: 'the old host', url: 'https://c.imedia.cz/retargeting?id=1234', events: null },
  { name: 'the library', url: 'https://c.seznam.cz/js/rc.js', events: [''], kind: 'library' },
  { name: 'a conversion without an account', url: 'https://c.seznam.cz/conversion', events: null },
])
