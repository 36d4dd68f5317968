import { testDecoder } from './decoder-cases.ts'
import { snapchatPixel } from './snapchat-pixel.ts'

// https://businesshelp.snapchat.com/s/article/pixel-website-install
testDecoder(snapchatPixel, [
  {
    name: 'events, with an initialisation and a log',
    url: 'https://tr6.snapchat.com/p',
    body: JSON.stringify({
      ctx: { url: 'https://shop.example/', v: '3.44.6' },
      req: [
        { t: { pid: 'pix-1', ev: 'PAGE_VIEW', u_hem: 'hash' }, del: 5 },
        { i: { pids: ['pix-1'] } },
        { t: { pid: 'pix-2', ev: 'PURCHASE', e_pr: 9.5, e_cur: 'EUR' } },
        { log: { name: 'x' } },
      ],
    }),
    account: 'pix-1',
    events: ['PAGE_VIEW', 'PURCHASE'],
    params: { 'ctx.url': 'https://shop.example/', u_hem: 'hash' },
  },
  {
    name: 'an event in a form',
    url: 'https://tr.snapchat.com/p',
    body: 'pid=pix-1&ev=ADD_CART&pl=https%3A%2F%2Fshop.example%2F',
    account: 'pix-1',
    events: ['ADD_CART'],
    params: { pl: 'https://shop.example/' },
  },
  {
    name: 'an event in the query',
    url: 'https://tr.snapchat.com/p?pid=pix-1&ev=PAGE_VIEW&intg=gtm',
    account: 'pix-1',
    events: ['PAGE_VIEW'],
  },
  {
    name: 'server events',
    url: 'https://tr.snapchat.com/v3/pix-1/events?access_token=s3cret',
    body: JSON.stringify({ data: [{ event_name: 'PURCHASE', custom_data: { value: 3 } }] }),
    account: 'pix-1',
    events: ['PURCHASE'],
    params: { 'custom_data.value': '3' },
    without: ['access_token'],
  },
  { name: 'only an initialisation', url: 'https://tr.snapchat.com/p', body: '{"req":[{"i":{}}]}', events: [] },
  { name: 'an ID sync', url: 'https://tr.snapchat.com/cm/i?pid=pix-1', events: [] },
  {
    name: 'the configuration',
    url: 'https://tr.snapchat.com/config/com/pix-1.js?v=3.44',
    account: 'pix-1',
    events: [''],
    kind: 'library',
  },
  { name: 'the library', url: 'https://sc-static.net/scevent.min.js', events: [''], kind: 'library' },
  { name: "the vendor's website", url: 'https://www.snapchat.com/p', events: null },
  {
    name: 'server test events',
    url: 'https://tr.snapchat.com/v3/pix-1/events',
    body: '{"test_event_code":"T1","data":[{"event_name":"PURCHASE"},{"event_name":"SIGN_UP"}]}',
    account: 'pix-1',
    events: ['PURCHASE', 'SIGN_UP'],
    params: { test_event_code: 'T1' },
  },
  {
    name: 'a server event in the old format',
    url: 'https://tr.snapchat.com/v2/conversion',
    body: '{"pixel_id":"pix-1","event_type":"PURCHASE","price":3}',
    account: 'pix-1',
    events: ['PURCHASE'],
  },
  {
    name: 'event validation',
    url: 'https://tr.snapchat.com/v3/pix-1/events/validate',
    body: '{"data":[]}',
    events: [],
  },
])
