import { testDecoder } from './decoder-cases.ts'
import { oracleInfinity } from './oracle-infinity.ts'

// https://docs.oracle.com/en/cloud/saas/marketing/infinity-develop/
testDecoder(oracleInfinity, [
  {
    name: 'products',
    url: 'https://dc.oracleinfinity.io/acc1/dcs.gif?dcsuri=/cart&wt.pn_sku=S1;S2&wt.tx_u=1;2&wt.tx_s=19.9;5',
    account: 'acc1',
    events: ['Page View'],
    params: { 'products.0.sku': 'S1', 'products.1.units': '2', 'products.1.subtotal': '5' },
  },
  {
    name: 'a page view',
    url: 'https://dc.oracleinfinity.io/acc1/dcs.gif?dcsdat=1&dcssip=shop.example&dcsuri=/cart&wt.dl=0',
    account: 'acc1',
    events: ['Page View'],
    params: { dcsuri: '/cart' },
  },
  {
    name: 'a click',
    url: 'https://dc.oracleinfinity.io/acc1/dcs.gif?dcsuri=/cart&wt.dl=24',
    account: 'acc1',
    events: ['Click'],
  },
  { name: "the visitor's identity", url: 'https://dc.oracleinfinity.io/v4/account/acc1/client/id', events: [] },
  {
    name: 'the library',
    url: 'https://c.oracleinfinity.io/acs/account/acc1/js/production/odc.js',
    account: 'acc1',
    events: [''],
    kind: 'library',
  },
  { name: "the vendor's website", url: 'https://www.oracle.com/infinity', events: null },
])
