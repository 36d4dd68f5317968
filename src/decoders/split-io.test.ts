import { testDecoder } from './decoder-cases.ts'
import { splitIo } from './split-io.ts'

const EVENTS = 'https://events.split.io/api/events'

// https://help.split.io/hc/en-us/articles/360020448791-JavaScript-SDK
testDecoder(splitIo, [
  {
    name: 'events',
    url: `${EVENTS}/bulk`,
    body: '[{"eventTypeId":"purchase","key":"u1","value":42.5,"properties":{"sku":"S1"}},{"eventTypeId":"view"}]',
    events: ['purchase', 'view'],
    params: { value: '42.5', 'properties.sku': 'S1' },
  },
  {
    name: 'events by beacon',
    url: `${EVENTS}/beacon`,
    body: '{"entries":[{"eventTypeId":"purchase"}],"token":"KEY1","sdk":"javascript-1"}',
    account: 'KEY1',
    events: ['purchase'],
  },
  {
    name: 'a feature flag impression',
    url: 'https://events.split.io/api/testImpressions/beacon',
    body: '{"entries":[{"f":"new_cart","i":[{"k":"u1","t":"on","r":"default rule"},{"k":"u2","t":"off"}]}],"token":"KEY1"}',
    account: 'KEY1',
    events: ['impression'],
    params: {
      f: 'new_cart',
      'i.0.t': 'on',
      splitName: 'new_cart',
      'keyImpressions.0.keyName': 'u1',
      'keyImpressions.0.treatment': 'on',
      'keyImpressions.0.label': 'default rule',
      'keyImpressions.1.treatment': 'off',
    },
  },
  {
    name: 'a feature flag impression in the old format',
    url: 'https://events.split.io/api/testImpressions/bulk',
    body: '[{"testName":"new_cart","keyImpressions":[{"keyName":"u1","treatment":"on"}]}]',
    events: ['impression'],
    params: { splitName: 'new_cart', 'keyImpressions.0.treatment': 'on' },
  },
  {
    name: 'impression counts',
    url: 'https://events.split.io/api/testImpressions/count',
    body: '{"pf":[]}',
    events: [],
  },
  { name: 'feature flag definitions', url: 'https://sdk.split.io/api/splitChanges?since=-1', events: [] },
  { name: 'a malformed body', url: `${EVENTS}/bulk`, body: '[{', events: [], error: 'Split.io: the body is not JSON' },
  { name: "the vendor's website", url: 'https://www.split.io/', events: null },
])
