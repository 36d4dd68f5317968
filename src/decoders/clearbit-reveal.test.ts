import { clearbitReveal } from './clearbit-reveal.ts'
import { testDecoder } from './decoder-cases.ts'

// https://help.clearbit.com/hc/en-us/articles/360057461334
testDecoder(clearbitReveal, [
  {
    name: "the visitor's company",
    url: 'https://reveal.clearbit.com/v1/companies/reveal?authorization=pk_abc123&variable=reveal',
    account: 'pk_abc123',
    events: ['reveal'],
    params: { variable: 'reveal' },
  },
  {
    name: 'a page',
    url: 'https://app.clearbit.com/v1/p',
    body: JSON.stringify({ authorization: 'pk_abc123', properties: { url: 'https://shop.example/' } }),
    account: 'pk_abc123',
    events: ['page'],
    params: { 'properties.url': 'https://shop.example/' },
  },
  {
    name: 'an event',
    url: 'https://app.clearbit.com/v1/t',
    body: JSON.stringify({ authorization: 'pk_abc123', event: 'Signed Up' }),
    account: 'pk_abc123',
    events: ['Signed Up'],
  },
  {
    name: 'the library',
    url: 'https://tag.clearbitscripts.com/v1/pk_abc123/tags.js',
    account: 'pk_abc123',
    kind: 'library',
    events: [''],
  },
  { name: "the vendor's website", url: 'https://clearbit.com/v1/t', events: null },
])
