import { type DecoderCase, testDecoder } from './decoder-cases.ts'
import { matomo } from './matomo.ts'

const TRACK = 'https://stats.shop.example/sub/matomo.php?idsite=7&rec=1&url=https%3A%2F%2Fshop.example%2Fp'

const kinds: [query: string, event: string][] = [
  ['action_name=Home', 'pageview'],
  ['e_c=Videos&e_a=Play&e_n=Intro&e_v=3', 'Play'],
  ['e_c=Videos', 'Videos'],
  ['search=shoes&search_cat=women&search_count=4', 'search'],
  ['download=https%3A%2F%2Fshop.example%2Fa.pdf', 'download'],
  ['link=https%3A%2F%2Fother.example', 'outlink'],
  ['exit=https%3A%2F%2Fother.example', 'outlink'],
  ['c_n=Banner&c_p=a.png&c_t=x', 'contentImpression'],
  ['c_n=Banner&c_i=click', 'contentInteraction'],
  ['idgoal=3&revenue=5', 'goal'],
  ['idgoal=0&ec_id=A1&revenue=5', 'ecommerceOrder'],
  ['idgoal=0&revenue=5', 'ecommerceCartUpdate'],
  ['ping=1', 'ping'],
]

// https://developer.matomo.org/api-reference/tracking-api
testDecoder(matomo, [
  {
    name: 'custom variables',
    url: `https://stats.shop.example/matomo.php?idsite=7&rec=1&_cvar=${encodeURIComponent('{"1":["Type","Member"],"2":["Type","Guest"],"5":["Plan",3]}')}&cvar=${encodeURIComponent('{"1":["Type","Page"]}')}&e_cvar=${encodeURIComponent('[["Step","2"]]')}`,
    account: '7',
    events: ['pageview'],
    params: {
      _cvar: '{"1":["Type","Member"],"2":["Type","Guest"],"5":["Plan",3]}',
      '_cvar.Type': 'Member',
      '_cvar.Type.1': 'Guest',
      '_cvar.Plan': '3',
      'cvar.Type': 'Page',
      'e_cvar.Step': '2',
    },
  },
  {
    name: 'invalid custom variables',
    url: `https://stats.shop.example/matomo.php?idsite=7&rec=1&_cvar=${encodeURIComponent('{"1":["",2],"2":"x","3":null}')}&cvar=5`,
    account: '7',
    events: ['pageview'],
    params: { cvar: '5' },
    without: ['_cvar.', '_cvar.1', 'cvar.0'],
  },
  ...kinds.map(
    ([query, event]): DecoderCase => ({ name: query, url: `${TRACK}&${query}`, account: '7', events: [event] }),
  ),
  {
    name: 'products in a cart',
    url: `${TRACK}&idgoal=0&revenue=5&ec_items=${encodeURIComponent('[["S1","Shirt",["A","B"],2.5,2],["S2"],null]')}`,
    account: '7',
    events: ['ecommerceCartUpdate'],
    params: {
      'ec_items.0.sku': 'S1',
      'ec_items.0.category.1': 'B',
      'ec_items.0.price': '2.5',
      'ec_items.0.quantity': '2',
      'ec_items.1.sku': 'S2',
      ec_items: '[["S1","Shirt",["A","B"],2.5,2],["S2"],null]',
    },
  },
  {
    name: 'everything in a form body',
    url: 'https://shop.matomo.cloud/piwik.php',
    body: 'idsite=7&rec=1&url=https%3A%2F%2Fshop.example%2F&e_c=Form&e_a=Sent',
    account: '7',
    events: ['Sent'],
    params: { url: 'https://shop.example/', e_c: 'Form' },
  },
  {
    name: 'a JSON batch, without its secret',
    url: 'https://shop.matomo.cloud/matomo.php?send_image=0',
    body: JSON.stringify({
      requests: ['?idsite=7&rec=1&action_name=A&token_auth=s3cret', 'idsite=7&rec=1&search=b', { idsite: 7, ping: 1 }],
      token_auth: 's3cret',
    }),
    account: '7',
    events: ['pageview', 'search', 'ping'],
    params: { action_name: 'A', send_image: '0' },
    without: ['token_auth'],
  },
  {
    name: 'under a different file name',
    url: 'https://shop.example/x/y?action_name=A&idsite=7&rec=1&url=https%3A%2F%2Fshop.example%2F',
    account: '7',
    events: ['pageview'],
  },
  { name: 'the library', url: 'https://cdn.matomo.cloud/shop/matomo.js', events: [''], kind: 'library' },
  {
    name: 'a Tag Manager container',
    url: 'https://shop.example/matomo/js/container_a1B2c3D4.js',
    events: null,
  },
  {
    name: 'Piwik PRO, with its textual site IDs',
    url: 'https://shop.example/ppms.php?idsite=aaa-bbb&rec=1&url=https%3A%2F%2Fshop.example%2F',
    events: null,
  },
])
