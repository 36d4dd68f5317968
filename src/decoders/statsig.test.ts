import { testDecoder } from './decoder-cases.ts'
import { statsig } from './statsig.ts'

const QUERY = 'k=client-KEY1&st=javascript-client&sv=3.1.0&ec=1'
const body = JSON.stringify({
  events: [
    { eventName: 'statsig::gate_exposure', metadata: { gate: 'new_cart' } },
    { eventName: 'purchase', value: 42.5 },
  ],
  statsigMetadata: { sdkKey: 'client-KEY1' },
})

// https://docs.statsig.com/http-api
testDecoder(statsig, [
  {
    name: 'events',
    url: `https://prodregistryv2.org/v1/rgstr?${QUERY}`,
    body,
    account: 'client-KEY1',
    events: ['statsig::gate_exposure', 'purchase'],
    params: { 'metadata.gate': 'new_cart', 'statsigMetadata.sdkKey': 'client-KEY1' },
  },
  {
    name: 'events in reversed base64',
    url: `https://prodregistryv2.org/v1/rgstr?${QUERY}&se=1`,
    body: [...btoa(body)].reverse().join(''),
    account: 'client-KEY1',
    events: ['statsig::gate_exposure', 'purchase'],
  },
  {
    name: 'the legacy API',
    url: 'https://events.statsigapi.net/v1/log_event',
    body,
    account: 'client-KEY1',
    events: ['statsig::gate_exposure', 'purchase'],
  },
  {
    name: 'events through a proxy',
    url: `https://shop.example/flags/v1/rgstr?${QUERY}`,
    body,
    account: 'client-KEY1',
    events: ['statsig::gate_exposure', 'purchase'],
  },
  {
    name: 'the feature configuration',
    url: `https://featureassets.org/v1/initialize?${QUERY}&se=1`,
    body: 'x',
    events: [],
  },
  {
    name: 'a malformed body',
    url: `https://prodregistryv2.org/v1/rgstr?${QUERY}`,
    body: '{"events":',
    events: [],
    error: 'Statsig: the body is not JSON',
  },
  { name: 'an unrelated API', url: 'https://shop.example/v1/rgstr?k=1', body, events: null },
])
