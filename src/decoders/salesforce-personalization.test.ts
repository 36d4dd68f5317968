import { testDecoder } from './decoder-cases.ts'
import { salesforcePersonalization } from './salesforce-personalization.ts'

const event = { interaction: { name: 'Order Placed', order: { id: 'A-1001' } }, user: { anonymousId: 'a1' } }

// https://developer.salesforce.com/docs/marketing/personalization/guide/event-api.html
testDecoder(salesforcePersonalization, [
  {
    name: 'an event in the query',
    url: `https://acme.germany-2.evergage.com/api2/event/shop?event=${encodeURIComponent(btoa(JSON.stringify(event)))}`,
    account: 'acme/shop',
    events: ['Order Placed'],
    params: { 'interaction.order.id': 'A-1001' },
  },
  {
    name: 'an event in the body',
    url: 'https://acme.evergage.com/api2/authevent/shop',
    body: JSON.stringify({ action: 'View Item', user: { id: 'u1' } }),
    account: 'acme/shop',
    events: ['View Item'],
    params: { 'user.id': 'u1' },
  },
  {
    name: 'Data Cloud events',
    url: 'https://acme.c360a.salesforce.com/web/events/s-1',
    body: JSON.stringify({ deviceId: 'd1', events: [{ eventType: 'catalog' }, { eventType: 'cart' }] }),
    account: 'acme/s-1',
    events: ['catalog', 'cart'],
    params: { deviceId: 'd1' },
  },
  {
    name: 'an event in the old format',
    url: 'https://acme.evergage.com/twreceiver?_ak=acme&_ds=shop&action=Home',
    account: 'acme/shop',
    events: ['Home'],
  },
  {
    name: 'a malformed event',
    url: 'https://acme.evergage.com/api2/event/shop?event=abc',
    events: [],
    error: 'Salesforce Personalization: the body is not JSON',
  },
  { name: 'statistics', url: 'https://acme.evergage.com/msreceiver?x=1', events: [] },
  {
    name: 'the library',
    url: 'https://cdn.evgnet.com/beacon/acme/shop/scripts/evergage.min.js',
    account: 'acme/shop',
    kind: 'library',
    events: [''],
  },
])
