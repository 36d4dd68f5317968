import { crazyEgg } from './crazy-egg.ts'
import { testDecoder } from './decoder-cases.ts'

// https://support.crazyegg.com/hc/en-us/articles/360054584474-Install-Crazy-Egg
testDecoder(crazyEgg, [
  {
    name: 'the library',
    url: 'https://script.crazyegg.com/pages/scripts/0012/3456.js',
    account: '00123456',
    kind: 'library',
    events: [''],
  },
  {
    name: 'the settings',
    url: 'https://script.crazyegg.com/pages/data-scripts/0012/3456.json?t=1',
    account: '00123456',
    kind: 'library',
    events: [''],
  },
  {
    name: 'other parts of the library',
    url: 'https://script.crazyegg.com/pages/versioned/common-scripts/11.1.376.js',
    kind: 'library',
    events: [''],
  },
  { name: 'a session recording', url: 'https://tracking.crazyegg.com/clock?t=1', events: [] },
  { name: "the vendor's website", url: 'https://www.crazyegg.com/pages/scripts/', events: null },
])
