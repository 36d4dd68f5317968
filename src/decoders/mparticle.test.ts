import { testDecoder } from './decoder-cases.ts'
import { mparticle } from './mparticle.ts'

const V3 = 'https://jssdks.mparticle.com/v3/JS/us1-KEY1/events'
const V2 = 'https://jssdks.mparticle.com/v2/JS/us1-KEY1/Events'

// https://docs.mparticle.com/developers/apis/http/
testDecoder(mparticle, [
  {
    name: 'named codes',
    url: V2,
    body: '{"n":"Buy","dt":16,"et":"10","ui":[{"Identity":"u1","Type":1},{"Identity":"a","Type":7},{"Identity":"b","Type":7},{"Type":2}]}',
    account: 'us1-KEY1',
    events: ['Buy'],
    params: {
      dt: '16',
      'dt.name': 'commerce_event',
      et: '10',
      'et.name': 'product_add_to_cart',
      'ui.0.Identity': 'u1',
      'ui.customerid': 'u1',
      'ui.email': 'a',
      'ui.email.1': 'b',
    },
    without: ['ui.facebook'],
  },
  {
    name: 'unknown codes',
    url: V2,
    body: '{"dt":99,"et":"constructor"}',
    account: 'us1-KEY1',
    events: [''],
    params: { dt: '99' },
    without: ['dt.name', 'et.name'],
  },
  {
    name: 'codes from an app',
    url: 'https://nativesdks.mparticle.com/v2/us1-KEY1/events',
    body: '{"dt":"h","msgs":[{"dt":"cm"}]}',
    account: 'us1-KEY1',
    events: ['cm'],
    params: { dt: 'cm', 'dt.name': 'commerce_event' },
  },
  {
    name: 'a batch',
    url: V3,
    body: JSON.stringify({
      mpid: '12',
      events: [
        { event_type: 'session_start', data: { session_uuid: 's' } },
        { event_type: 'screen_view', data: { screen_name: 'checkout' } },
        { event_type: 'custom_event', data: { event_name: 'Purchase', custom_event_type: 'transaction' } },
        { event_type: 'commerce_event', data: { product_action: { action: 'add_to_cart' } } },
        { event_type: 'commerce_event', data: { product_impressions: [] } },
      ],
    }),
    account: 'us1-KEY1',
    events: ['session_start', 'checkout', 'Purchase', 'add_to_cart', 'commerce_event'],
    params: { mpid: '12', 'data.session_uuid': 's' },
    without: ['events'],
  },
  {
    name: 'a single event in the legacy API',
    url: V2,
    body: '{"n":"Page View","dt":3,"attrs":{"sku":"S1"}}',
    account: 'us1-KEY1',
    events: ['Page View'],
    params: { 'attrs.sku': 'S1' },
  },
  { name: 'a legacy event without a name', url: V2, body: '{"dt":1}', account: 'us1-KEY1', events: ['session_start'] },
  { name: 'a legacy event with an uncaptured body', url: V2, account: 'us1-KEY1', events: [''] },
  {
    name: 'server events',
    url: 'https://s2s.mparticle.com/v2/bulkevents',
    body: '[{"events":[{"event_type":"custom_event","data":{"event_name":"A"}}]},{"events":[{"event_type":"opt_out"}]}]',
    events: ['A', 'opt_out'],
  },
  {
    name: 'app events',
    url: 'https://nativesdks.mparticle.com/v2/us1-KEY1/events',
    body: '{"dt":"h","msgs":[{"dt":"ss"},{"dt":"e","n":"Purchase"}]}',
    account: 'us1-KEY1',
    events: ['ss', 'Purchase'],
  },
  {
    name: "the visitor's identity",
    url: 'https://identity.mparticle.com/v1/login',
    body: '{"known_identities":{"customerid":"u1"}}',
    events: [],
  },
  {
    name: "a batch on the customer's host",
    url: 'https://mp.shop.example/webevents/v3/JS/us1-0123456789abcdef0123456789abcdef/events',
    body: '{"events":[{"event_type":"custom_event","data":{"event_name":"A"}}]}',
    account: 'us1-0123456789abcdef0123456789abcdef',
    events: ['A'],
  },
  {
    name: 'the forwarded events',
    url: 'https://jssdks.mparticle.com/v1/JS/us1-KEY1/Forwarding',
    body: '{}',
    events: [],
  },
  { name: 'settings', url: 'https://jssdkcdns.mparticle.com/JS/v2/us1-KEY1/config?env=0', events: [] },
  {
    name: 'the library',
    url: 'https://jssdkcdns.mparticle.com/js/v2/us1-KEY1/mparticle.js',
    account: 'us1-KEY1',
    events: [''],
    kind: 'library',
  },
  { name: 'a malformed body', url: V3, body: '[', events: [], error: 'mParticle: the body is not JSON' },
  { name: "the vendor's website", url: 'https://www.mparticle.com/', events: null },
])
