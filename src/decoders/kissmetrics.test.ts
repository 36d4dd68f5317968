import { testDecoder } from './decoder-cases.ts'
import { kissmetrics } from './kissmetrics.ts'

const TRK = 'https://trk.kissmetrics.io'
const KEY = '0123456789abcdef0123456789abcdef01234567'

// https://support.kissmetrics.io/
testDecoder(kissmetrics, [
  {
    name: 'an event',
    url: `${TRK}/e?_k=${KEY}&_p=u1&_n=Purchased&value=42.5`,
    account: KEY,
    events: ['Purchased'],
    params: { value: '42.5' },
  },
  { name: 'person properties', url: `${TRK}/s?_k=${KEY}&_p=u1&plan=pro`, account: KEY, events: ['set'] },
  {
    name: 'an alias request',
    url: `${TRK}/a?_k=${KEY}&_p=u1&_n=a%40shop.example`,
    account: KEY,
    events: ['alias'],
  },
  {
    name: 'the library',
    url: `https://scripts.kissmetrics.io/${KEY}.2.js`,
    account: KEY,
    events: [''],
    kind: 'library',
  },
  { name: "the vendor's website", url: 'https://www.kissmetrics.io/', events: null },
])
