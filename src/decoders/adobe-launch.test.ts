import { adobeLaunch } from './adobe-launch.ts'
import { testDecoder } from './decoder-cases.ts'

// https://experienceleague.adobe.com/en/docs/experience-platform/tags/publish/environments/environments
testDecoder(adobeLaunch, [
  {
    name: 'a self-hosted library',
    url: 'https://www.shop.example/assets/launch-EN0123456789abcdef0123456789abcdef-development.min.js',
    account: 'EN0123456789abcdef0123456789abcdef',
    events: [''],
    kind: 'library',
    params: { environment: 'development' },
  },
  {
    name: 'an unrelated script with a similar name',
    url: 'https://www.shop.example/launch-party.min.js',
    events: null,
  },
  {
    name: 'production',
    url: 'https://assets.adobedtm.com/abc123/def456/launch-EN0123abcd.min.js',
    account: 'EN0123abcd',
    events: [''],
    kind: 'library',
    params: { environment: 'production' },
  },
  {
    name: 'China',
    url: 'https://assets.adoberesources.cn/abc123/def456/launch-EN0123abcd-development.min.js',
    account: 'EN0123abcd',
    events: [''],
    kind: 'library',
    params: { environment: 'development' },
  },
  {
    name: 'staging',
    url: 'https://assets.adobedtm.com/launch-EN0123abcd-staging.js?x=1&environment=mine',
    account: 'EN0123abcd',
    events: [''],
    kind: 'library',
    params: { environment: 'staging', 'environment.1': 'mine' },
  },
  { name: 'a rule', url: 'https://assets.adobedtm.com/abc/def/789/RC01ab-source.min.js', events: [] },
  { name: 'the predecessor product', url: 'https://assets.adobedtm.com/abc/satelliteLib-0123.js', events: null },
])
