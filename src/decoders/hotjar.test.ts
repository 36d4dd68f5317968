import { testDecoder } from './decoder-cases.ts'
import { hotjar } from './hotjar.ts'

// https://help.hotjar.com/hc/en-us/articles/115011640307-Content-Security-Policies
testDecoder(hotjar, [
  {
    name: 'a page',
    url: 'https://in.hotjar.com/api/v2/client/sites/101/visit-data?sv=7',
    body: JSON.stringify({ window_width: 1366, included_in_sample: true, url: 'https://shop.example/' }),
    account: '101',
    events: ['visit-data'],
    params: { url: 'https://shop.example/', included_in_sample: 'true', sv: '7' },
  },
  { name: 'a session', url: 'https://vc.hotjar.io/sessions/101?s=0.25&r=0.1', account: '101', events: ['session'] },
  {
    name: 'a page view that is not JSON',
    url: 'https://in.hotjar.com/api/v2/client/sites/101/visit-data?sv=7',
    body: '[',
    events: [],
    error: 'Hotjar: the body is not JSON',
  },
  { name: 'a session recording', url: 'https://content.hotjar.io/?site_id=101&gzip=1', body: '\u001f', events: [] },
  { name: 'the WebSocket connection', url: 'wss://ws.hotjar.com/api/v2/client/ws?v=7&site_id=101', events: [] },
  {
    name: 'the library',
    url: 'https://static.hotjar.com/c/hotjar-101.js?sv=7',
    account: '101',
    kind: 'library',
    events: [''],
  },
  {
    name: 'the library from the new host',
    url: 'https://static.hj.contentsquare.net/c/hotjar-101.js',
    account: '101',
    kind: 'library',
    events: [''],
  },
  {
    name: 'other parts of the library',
    url: 'https://script.hotjar.com/modules.5b1c.js',
    kind: 'library',
    events: [''],
  },
  { name: "the vendor's website", url: 'https://www.hotjar.com/product/', events: null },
])
