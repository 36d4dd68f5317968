import { bloomreach } from './bloomreach.ts'
import { testDecoder } from './decoder-cases.ts'

const commands = JSON.stringify({
  commands: [
    {
      name: 'crm/events',
      data: { project_id: 'p-1', type: 'purchase', properties: { total_price: 42.5 }, customer_ids: { cookie: 'c1' } },
    },
    { name: 'crm/customers', data: { project_id: 'p-1', properties: { email: 'jane@shop.example' } } },
  ],
})

// https://documentation.bloomreach.com/discovery/docs/reference-introduction-to-pixel
testDecoder(bloomreach, [
  {
    name: 'a Discovery page view',
    url: 'https://p.brsrvr.com/pix.gif?acct_id=1001&type=pageview&ptype=product&prod_id=SKU1&url=https%3A%2F%2Fshop.example%2F',
    account: '1001',
    events: ['pageview'],
    params: { prod_id: 'SKU1' },
  },
  {
    name: 'a Discovery event',
    url: 'https://p-eu.brsrvr.com/pix.gif?acct_id=1001&type=event&group=cart&etype=click-add&prod_id=SKU1',
    account: '1001',
    events: ['click-add'],
  },
  {
    name: 'a Discovery conversion',
    url: 'https://p.brsrvr.com/pix.gif?acct_id=1001&type=pageview&ptype=conversion&is_conversion=1&basket_value=42.5',
    account: '1001',
    events: ['conversion'],
  },
  {
    name: 'Engagement commands',
    url: 'https://api.exponea.com/bulk',
    body: commands,
    account: 'p-1',
    events: ['purchase', 'crm/customers'],
    params: { 'properties.total_price': '42.5' },
  },
  {
    name: "Engagement commands on the customer's host",
    url: 'https://cdp.shop.example/bulk',
    body: commands,
    account: 'p-1',
    events: ['purchase', 'crm/customers'],
  },
  {
    name: 'a server event',
    url: 'https://api.eu1.exponea.com/track/v2/projects/p-1/customers/events',
    body: JSON.stringify({ event_type: 'purchase', properties: { total_price: 42.5 } }),
    account: 'p-1',
    events: ['purchase'],
  },
  {
    name: 'a body that is not JSON',
    url: 'https://api.exponea.com/bulk',
    body: 'x',
    events: [],
    error: 'Bloomreach: the body is not JSON',
  },
  { name: 'a banner', url: 'https://api.exponea.com/campaigns/banners/show', body: '{}', events: [] },
  {
    name: 'the library',
    url: 'https://cdn.brcdn.com/v1/br-trk-1001.js',
    account: '1001',
    kind: 'library',
    events: [''],
  },
  { name: 'the same path on another site', url: 'https://shop.example/bulk', body: '{"commands":[]}', events: null },
])
