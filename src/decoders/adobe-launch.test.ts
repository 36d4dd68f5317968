import { adobeLaunch } from './adobe-launch.ts'
import { testDecoder } from './decoder-cases.ts'

// https://experienceleague.adobe.com/en/docs/experience-platform/tags/publish/environments/environments
testDecoder(adobeLaunch, [
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
    url: 'https://assets.adobedtm.com/launch-EN0123abcd-staging.js?x=1',
    account: 'EN0123abcd',
    events: [''],
    kind: 'library',
  },
  { name: 'a rule', url: 'https://assets.adobedtm.com/abc/def/789/RC01ab-source.min.js', events: [] },
  { name: 'the product before', url: 'https://assets.adobedtm.com/abc/satelliteLib-0123.js', events: null },
])
