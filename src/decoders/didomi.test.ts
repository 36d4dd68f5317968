import { testDecoder } from './decoder-cases.ts'
import { didomi } from './didomi.ts'

const KEY = '0f1e2d3c-0000-4000-8000-000000000000'
const event = (type: string) => ({
  type,
  source: { type: 'sdk-web', domain: 'shop.example', key: KEY },
  user: { token: { purposes: { enabled: ['cookies'], disabled: [] } } },
})

// https://developers.didomi.io/cmp/web-sdk/getting-started
testDecoder(didomi, [
  {
    name: 'a consent choice',
    url: 'https://api.privacy-center.org/v1/events',
    body: JSON.stringify(event('consent.given')),
    account: KEY,
    events: ['consent.given'],
    params: { 'source.domain': 'shop.example', 'user.token.purposes.enabled.0': 'cookies' },
  },
  {
    name: 'a list of events',
    url: 'https://api.privacy-center.org/v1/events',
    body: JSON.stringify([event('pageview'), event('consent.asked')]),
    account: KEY,
    events: ['pageview', 'consent.asked'],
  },
  {
    name: "through the customer's host",
    url: 'https://shop.example/didomi/api/v1/events',
    body: JSON.stringify(event('consent.asked')),
    account: KEY,
    events: ['consent.asked'],
  },
  {
    name: 'a body that is not JSON',
    url: 'https://api.privacy-center.org/v1/events',
    body: 'x',
    events: [],
    error: 'Didomi: the body is not JSON',
  },
  {
    name: 'the library',
    url: `https://sdk.privacy-center.org/${KEY}/loader.js?target=shop.example`,
    account: KEY,
    kind: 'library',
    events: [''],
  },
  { name: 'the same path on another site', url: 'https://shop.example/v1/events', body: '{"type":"x"}', events: null },
])
