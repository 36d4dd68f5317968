import { deflateSync } from 'node:zlib'
import { testDecoder } from './decoder-cases.ts'
import { pendo } from './pendo.ts'

const KEY = '0a1b2c3d-1111-2222-3333-444455556666'
const jzb = deflateSync(
  JSON.stringify([
    { type: 'load', url: 'https://shop.example/cart', visitor_id: 'u1' },
    { type: 'track', track_event_name: 'purchase', props: { value: 42.5 } },
  ]),
).toString('base64url')

// https://support.pendo.io/hc/en-us/articles/360046272771-Developer-s-guide-to-installing-Pendo
testDecoder(pendo, [
  {
    name: 'events',
    url: `https://data.pendo.io/data/ptm.gif/${KEY}?v=2.291.4_prod&ct=1&jzb=${jzb}`,
    account: KEY,
    events: ['load', 'purchase'],
    params: { url: 'https://shop.example/cart', visitor_id: 'u1' },
  },
  {
    name: 'events too long for a URL',
    url: `https://app.eu.pendo.io/data/ptm.gif/${KEY}?v=2.291.4_prod&ct=1`,
    body: JSON.stringify({ events: jzb }),
    account: KEY,
    events: ['load', 'purchase'],
  },
  {
    name: "on the customer's host",
    url: `https://content.shop.example/data/ptm.gif/${KEY}?jzb=${jzb}`,
    account: KEY,
    events: ['load', 'purchase'],
  },
  { name: 'the guides to display', url: `https://app.pendo.io/data/guide.json/${KEY}?jzb=${jzb}`, events: [] },
  { name: 'session replay', url: `https://data.pendo.io/data/rec/${KEY}`, body: 'x', events: [] },
  {
    name: 'the library',
    url: `https://cdn.pendo.io/agent/static/${KEY}/pendo.js`,
    account: KEY,
    events: [''],
    kind: 'library',
  },
  {
    name: 'malformed data',
    url: `https://data.pendo.io/data/ptm.gif/${KEY}?jzb=xx`,
    events: [],
    error: 'Pendo: the data cannot be decompressed',
  },
  {
    name: 'data that exceeds the limit when decompressed',
    url: `https://data.pendo.io/data/ptm.gif/${KEY}?jzb=${deflateSync(' '.repeat(4_000_000)).toString('base64url')}`,
    events: [],
    error: 'Pendo: the data cannot be decompressed',
  },
  { name: "the vendor's website", url: 'https://www.pendo.io/', events: null },
])
