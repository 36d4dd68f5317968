import { testDecoder } from './decoder-cases.ts'
import { fathom } from './fathom.ts'

const VIEW = '?h=https%3A%2F%2Fshop.example&p=%2Fcart&r=&sid=ABCDEFGH&qs=%7B%7D&cid=1'

// https://usefathom.com/docs/script/script-advanced
testDecoder(fathom, [
  {
    name: 'a page view',
    url: `https://cdn.usefathom.com/${VIEW}`,
    account: 'ABCDEFGH',
    events: ['pageview'],
    params: { p: '/cart' },
  },
  {
    name: 'an event',
    url: `https://cdn.usefathom.com/${VIEW}&name=purchase&cents=4250`,
    account: 'ABCDEFGH',
    events: ['purchase'],
    params: { cents: '4250' },
  },
  {
    name: "through the customer's domain",
    url: `https://quick-tree.shop.example/${VIEW}`,
    account: 'ABCDEFGH',
    events: ['pageview'],
  },
  { name: 'the library', url: 'https://cdn.usefathom.com/script.js', events: [''], kind: 'library' },
  { name: 'an unrelated page', url: 'https://shop.example/?sid=ABCDEFGH&p=1', events: null },
])
