import { cjAffiliate } from './cj-affiliate.ts'
import { testDecoder } from './decoder-cases.ts'

// https://developers.cj.com/docs/tracking-integration
testDecoder(cjAffiliate, [
  {
    name: 'a conversion',
    url: 'https://www.emjcd.com/u?CID=1234&TYPE=5678&OID=T1&AMT1=42.5&QTY1=1&ITEM1=S1&CURRENCY=EUR&METHOD=IMG',
    account: '1234',
    events: ['conversion'],
    params: { OID: 'T1', TYPE: '5678' },
  },
  {
    name: 'a page',
    url: 'https://www.mczbf.com/11041/pageInfo?pageType=homepage',
    account: '11041',
    events: ['pageInfo'],
  },
  {
    name: 'the library',
    url: 'https://www.mczbf.com/tags/11041/tag.js',
    account: '11041',
    events: [''],
    kind: 'library',
  },
  { name: 'a click', url: 'https://www.emjcd.com/click-1-2', events: null },
])
