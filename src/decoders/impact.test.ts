import { testDecoder } from './decoder-cases.ts'
import { impact } from './impact.ts'

// https://integrations.impact.com/impact-brand/docs/universal-tracking-tag-utt-overview
testDecoder(impact, [
  {
    name: 'a visit',
    url: 'https://shop.pxf.io/xc/1234/5678/90',
    body: '_ir=U54&landurl=https%3A%2F%2Fshop.example%2F',
    account: '1234',
    events: ['visit'],
    params: { landurl: 'https://shop.example/' },
  },
  {
    name: 'a conversion',
    url: 'https://shop.sjv.io/xconv/1234/5678/90',
    body: 'oid=T1&amt0=42.5',
    account: '1234',
    events: ['conversion'],
    params: { oid: 'T1' },
  },
  {
    name: 'the library',
    url: 'https://utt.impactcdn.com/A1234-0a1b-2c3d.js',
    account: 'A1234',
    events: [''],
    kind: 'library',
  },
  { name: 'a click', url: 'https://shop.pxf.io/c/1/2/3', events: null },
])
