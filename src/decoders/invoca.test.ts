import { testDecoder } from './decoder-cases.ts'
import { invoca } from './invoca.ts'

// https://developers.invoca.net/en/latest/api_documentation/pnapi/index.html
testDecoder(invoca, [
  {
    name: 'a phone number for a visitor',
    url: 'https://pnapi.invoca.net/101/na.json',
    body: JSON.stringify({ network_id: 101, tag_id: '101/7', request_data: [{ advertiser_campaign_id: 'c1' }] }),
    account: '101',
    events: ['allocate_number'],
    params: { 'request_data.0.advertiser_campaign_id': 'c1' },
  },
  {
    name: 'a phone number requested by script',
    url: 'https://pnapi.invoca.net/101/na.jsonp?utm_medium=email',
    account: '101',
    events: ['allocate_number'],
    params: { utm_medium: 'email' },
  },
  {
    name: 'phone numbers requested by a server',
    url: 'https://pnapi.invoca.net/api/2013-07-01/bulk.json',
    body: JSON.stringify({ requests: [{ api_suffix: '7/allocate_number.json?ring_pool_key=k' }] }),
    events: ['allocate_number'],
  },
  {
    name: 'the library',
    url: 'https://solutions.invocacdn.com/js/networks/101/1234567/tag-live.js',
    account: '101/1234567',
    kind: 'library',
    events: [''],
  },
  {
    name: 'a body that is not JSON',
    url: 'https://pnapi.invoca.net/101/na.json',
    body: 'x',
    events: [],
    error: 'Invoca: the body is not JSON',
  },
  { name: "the vendor's app", url: 'https://invoca.net/api/2013-07-01/bulk.json', events: null },
])
