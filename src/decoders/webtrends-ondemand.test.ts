import { testDecoder } from './decoder-cases.ts'
import { webtrendsOndemand } from './webtrends-ondemand.ts'

const ID = 'dcs0123456789abcdef0123456_1a2b'
const QUERY = '?&dcsdat=1&dcssip=shop.example&dcsuri=/cart&WT.ti=Cart%2520%2526%2520more'

// https://github.com/MisterPhilip/omnibug
testDecoder(webtrendsOndemand, [
  {
    name: 'products',
    url: `https://statse.webtrendslive.com/${ID}/dcs.gif${QUERY}&WT.pn_sku=S1;S2&WT.tx_u=1;2&WT.tx_s=19.9;5`,
    account: ID,
    events: ['Page View'],
    params: { 'products.0.sku': 'S1', 'products.1.units': '2', 'products.1.subtotal': '5' },
  },
  {
    name: 'a page view',
    url: `https://statse.webtrendslive.com/${ID}/dcs.gif${QUERY}&WT.dl=0`,
    account: ID,
    events: ['Page View'],
    params: { 'WT.ti': 'Cart & more' },
  },
  {
    name: 'a download',
    url: `https://statse.webtrendslive.com/${ID}/dcs.gif${QUERY}&WT.dl=20`,
    account: ID,
    events: ['Download'],
  },
  {
    name: "a click on the customer's host",
    url: `https://wt.shop.example/dcs.gif${QUERY}&WT.dl=24`,
    events: ['Exit Click'],
  },
  {
    name: "a data source on the customer's host",
    url: `https://wt.shop.example/${ID}/dcs.gif`,
    account: ID,
    events: ['Page View'],
  },
  {
    name: 'a repeated hit',
    url: `https://statse.webtrendslive.com/${ID}/dcs.gif?dcsredirect=126&dcsuri=/cart&WT.dl=0`,
    events: [],
  },
  { name: 'the copy for streaming', url: `https://scs.webtrends.com/${ID}/dcs.gif${QUERY}`, events: [] },
  {
    name: 'the successor product',
    url: 'https://dc.shop.example/abc123/dcs.gif?dcsdat=1&dcsuri=/&wt.tz=1',
    events: null,
  },
  { name: "the visitor's identity", url: `https://statse.webtrendslive.com/${ID}/wtid.js?callback=a`, events: [] },
  { name: "the vendor's website", url: 'https://www.webtrends.com/dcs', events: null },
  { name: 'an unrelated image', url: 'https://shop.example/dcs.gif?id=1', events: null },
])
