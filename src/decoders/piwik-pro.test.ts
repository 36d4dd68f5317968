import { type DecoderCase, testDecoder } from './decoder-cases.ts'
import { piwikPro } from './piwik-pro.ts'

const SITE = '0a1b2c3d-1111-2222-3333-444455556666'
const QUERY = `idsite=${SITE}&rec=1&url=https%3A%2F%2Fshop.example%2F`

const kinds: [query: string, event: string][] = [
  ['action_name=Home', 'pageview'],
  ['e_c=Videos&e_a=Play&e_n=Intro', 'Play'],
  ['search=shoes', 'search'],
  ['download=https%3A%2F%2Fshop.example%2Fa.pdf', 'download'],
  ['link=https%3A%2F%2Fother.example', 'outlink'],
  ['idgoal=0&ec_id=A1&revenue=5', 'ecommerceOrder'],
  ['ping=1', 'ping'],
]

// https://developers.piwik.pro/
testDecoder(piwikPro, [
  {
    name: 'custom variables and products',
    url: `https://shop.piwik.pro/ppms.php?idsite=aaa-bbb&rec=1&cvar=${encodeURIComponent('{"1":["Type","Member"]}')}&ec_products=${encodeURIComponent('[["S1","Shirt",["Men","Tops"],"20",2,"Acme","blue",{"1":"gift"}]]')}`,
    account: 'aaa-bbb',
    events: ['pageview'],
    params: {
      'cvar.Type': 'Member',
      'ec_products.0.sku': 'S1',
      'ec_products.0.category.1': 'Tops',
      'ec_products.0.quantity': '2',
      'ec_products.0.brand': 'Acme',
      'ec_products.0.variant': 'blue',
      'ec_products.0.customDimensions.1': 'gift',
    },
  },
  ...kinds.map(
    ([query, event]): DecoderCase => ({
      name: query,
      url: `https://shop.piwik.pro/ppms.php?${QUERY}&${query}`,
      account: SITE,
      events: [event],
    }),
  ),
  {
    name: "an event in the body, on the customer's host",
    url: 'https://stats.shop.example/ppms.php',
    body: `${QUERY}&e_c=Form&e_a=Sent`,
    account: SITE,
    events: ['Sent'],
    params: { e_c: 'Form' },
  },
  {
    name: 'a JSON batch',
    url: 'https://shop.piwik.pro/piwik.php',
    body: JSON.stringify({ requests: [`?${QUERY}&action_name=A`, `?${QUERY}&search=b`] }),
    account: SITE,
    events: ['pageview', 'search'],
  },
  {
    name: 'under a different file name',
    url: `https://shop.example/x?${QUERY}&action_name=A`,
    account: SITE,
    events: ['pageview'],
  },
  { name: 'the library', url: 'https://shop.piwik.pro/ppms.js', events: [''], kind: 'library' },
  { name: 'Matomo', url: 'https://stats.shop.example/matomo.php?idsite=7&rec=1&url=x', events: null },
])
