import { clevertap } from './clevertap.ts'
import { testDecoder } from './decoder-cases.ts'

const A = 'https://eu1.clevertap-prod.com/a?t=96'

// https://developer.clevertap.com/docs/web
testDecoder(clevertap, [
  {
    name: 'an event',
    url: `${A}&type=push&d=N4IgLgngDgpiBcIYDcYDswgDROWAcgIYC2ciAwgBaEBOA5jACba5gAihYhCoAgsQHsArhgQAWAEwA6AKwBfHAEtmiXuXIBaAIwsodBFrlA%3D%3D&rn=1`,
    account: 'ACC-1',
    events: ['Charged'],
    params: { 'evtData.Amount': '42.5', rn: '1' },
    without: ['d'],
  },
  {
    name: 'a page',
    url: `https://wzrkt.com/a?t=77&type=page&d=N4IgLgngDgpiBcIoEMDmcA0ICWATBIAggMLEC0AjCAL5A%3D%3D%3D`,
    account: 'ACC-1',
    events: ['page'],
  },
  { name: 'a subscription', url: 'https://eu1.clevertap-prod.com/e?t=96', events: [] },
  {
    name: 'the library',
    url: 'https://d2r1yp2w7bby2u.cloudfront.net/js/clevertap.min.js',
    events: [''],
    kind: 'library',
  },
  {
    name: 'malformed data',
    url: `${A}&type=push&d=xx`,
    events: [],
    error: 'CleverTap: the data cannot be decompressed',
  },
  { name: "the vendor's website", url: 'https://clevertap.com/about', events: null },
])
