import { testDecoder } from './decoder-cases.ts'
import { piwikProTagManager } from './piwik-pro-tag-manager.ts'

const ID = '0a1b2c3d-1111-2222-3333-444455556666'

// https://help.piwik.pro/support/getting-started/install-a-container-with-tags/
testDecoder(piwikProTagManager, [
  {
    name: 'a container',
    url: `https://shop.containers.piwik.pro/${ID}.js`,
    account: ID,
    events: [''],
    kind: 'library',
  },
  {
    name: 'the synchronous part',
    url: `https://shop.piwik.pro/containers/${ID}.sync.js`,
    account: ID,
    events: [''],
    kind: 'library',
  },
  {
    name: "on the customer's host",
    url: `https://stats.shop.example/containers/${ID}.js`,
    account: ID,
    events: [''],
    kind: 'library',
  },
  { name: 'an unrelated file', url: `https://shop.example/${ID}.js`, events: null },
  { name: 'an unrelated container', url: 'https://shop.example/containers/main.js', events: null },
])
