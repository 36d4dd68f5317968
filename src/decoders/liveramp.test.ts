import { testDecoder } from './decoder-cases.ts'
import { liveRamp } from './liveramp.ts'

// https://docs.liveramp.com/privacy-manager/en/ats-js.html
testDecoder(liveRamp, [
  { name: 'an ID request', url: 'https://idsync.rlcdn.com/712188.gif?partner_uid=1&gdpr=0', events: [] },
  { name: 'an envelope', url: 'https://api.rlcdn.com/api/identity/envelope?pid=101', events: [] },
  {
    name: 'the library',
    url: 'https://launchpad-wrapper.privacymanager.io/0f1e2d3c-0000-4000-8000-000000000000/launchpad-liveramp.js',
    account: '0f1e2d3c-0000-4000-8000-000000000000',
    kind: 'library',
    events: [''],
  },
  { name: 'the library without an account', url: 'https://ats.rlcdn.com/ats.js', kind: 'library', events: [''] },
  { name: "the vendor's website", url: 'https://liveramp.com/api/', events: null },
])
