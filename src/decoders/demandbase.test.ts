import { testDecoder } from './decoder-cases.ts'
import { demandbase } from './demandbase.ts'

// https://support.demandbase.com/hc/en-us/articles/203233110-Web-IP-API-Implementation-Guide
testDecoder(demandbase, [
  {
    name: "the visitor's company",
    url: 'https://api.company-target.com/api/v2/ip.json?referrer=&page=https%3A%2F%2Fshop.example%2F&src=tag&key=abc123',
    account: 'abc123',
    events: ['company_lookup'],
    params: { page: 'https://shop.example/' },
  },
  {
    name: "the visitor's company by POST",
    url: 'https://api.company-target.com/api/v3/ip.json?page=https%3A%2F%2Fshop.example%2F',
    body: JSON.stringify({ src: 'tag', auth: 'abc123' }),
    account: 'abc123',
    events: ['company_lookup'],
    params: { src: 'tag', page: 'https://shop.example/' },
  },
  {
    name: 'an experience',
    url: 'https://et.company-target.com/events/',
    body: JSON.stringify({ type: 'experience_fired', id: 7 }),
    events: ['experience_fired'],
  },
  {
    name: 'an ID sync with another service',
    url: 'https://s.company-target.com/s/ix?cm_dsp_id=18&us_privacy=1---',
    events: [],
  },
  {
    name: 'the library',
    url: 'https://tag.demandbase.com/1a2b.min.js',
    account: '1a2b',
    kind: 'library',
    events: [''],
  },
  { name: "the vendor's website", url: 'https://www.demandbase.com/a.js', events: null },
])
