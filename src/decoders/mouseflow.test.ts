import { testDecoder } from './decoder-cases.ts'
import { mouseflow } from './mouseflow.ts'

const ID = '0f1e2d3c-0000-4000-8000-000000000000'

// https://help.mouseflow.com/en/articles/4274616-content-security-policy-csp
testDecoder(mouseflow, [
  {
    name: 'a page',
    url: `https://o2.mouseflow.com/init?v=20.1&w=${ID}&uri=%2Fcheckout`,
    account: ID,
    events: ['init'],
    params: { uri: '/checkout' },
  },
  { name: 'a session recording', url: 'https://o2.mouseflow.com/data?s=1', body: '\u001f', events: [] },
  {
    name: 'the library',
    url: `https://cdn.mouseflow.com/projects/${ID}.js`,
    account: ID,
    kind: 'library',
    events: [''],
  },
  { name: "the vendor's website", url: 'https://mouseflow.com/init', events: null },
])
