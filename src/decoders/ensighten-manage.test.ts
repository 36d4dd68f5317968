import { testDecoder } from './decoder-cases.ts'
import { ensightenManage } from './ensighten-manage.ts'

const NEXUS = 'https://nexus.ensighten.com/shop/prod'

// https://github.com/MisterPhilip/omnibug
testDecoder(ensightenManage, [
  { name: 'the loader', url: `${NEXUS}/Bootstrap.js`, account: 'shop/prod', events: [''], kind: 'library' },
  {
    name: 'a tag',
    url: `${NEXUS}/code/0123456789abcdef.js?conditionId0=1`,
    account: 'shop/prod',
    events: [''],
    kind: 'library',
  },
  {
    name: "on the customer's host",
    url: 'https://nexus.shop.example/shop/prod/Bootstrap.js',
    account: 'shop/prod',
    events: [''],
    kind: 'library',
  },
  { name: 'the list of tags for a page', url: `${NEXUS}/serverComponent.php?r=1`, events: [] },
  {
    name: 'the production loader',
    url: 'https://nexus.ensighten.com/shop/Bootstrap.js',
    account: 'shop/prod',
    events: [''],
    kind: 'library',
  },
  { name: 'an unrelated framework', url: 'https://shop.example/Scripts/lib/Bootstrap.js', events: null },
  { name: 'an unrelated file', url: 'https://shop.example/Bootstrap.js', events: null },
])
