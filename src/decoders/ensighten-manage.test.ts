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
  { name: 'the tags for this page', url: `${NEXUS}/serverComponent.php?r=1`, events: [] },
  {
    name: 'the loader of production',
    url: 'https://nexus.ensighten.com/shop/Bootstrap.js',
    account: 'shop/prod',
    events: [''],
    kind: 'library',
  },
  { name: "a framework of a shop's", url: 'https://shop.example/Scripts/lib/Bootstrap.js', events: null },
  { name: 'another file', url: 'https://shop.example/Bootstrap.js', events: null },
])
