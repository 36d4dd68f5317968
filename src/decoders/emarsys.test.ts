import { testDecoder } from './decoder-cases.ts'
import { emarsys } from './emarsys.ts'

const MERCHANT = 'https://recommender.scarabresearch.com/merchants/0123456789ABCDEF/'

// https://help.sap.com/docs/SAP_EMARSYS
testDecoder(emarsys, [
  {
    name: 'a product',
    url: `${MERCHANT}?pv=1&cp=1&vi=v1&ca=&v=i%3ASKU1`,
    account: '0123456789ABCDEF',
    events: ['view'],
    params: { v: 'i:SKU1', 'v.0.item': 'SKU1' },
  },
  {
    name: 'a purchase',
    url: `${MERCHANT}?pv=1&vi=v1&ca=&oi=A-1001&co=i%3ASKU1%2Cp%3A42.5%2Cq%3A1%7Ci%3ASKU2`,
    account: '0123456789ABCDEF',
    events: ['purchase'],
    params: { oi: 'A-1001', 'co.0.item': 'SKU1', 'co.0.price': '42.5', 'co.0.quantity': '1', 'co.1.item': 'SKU2' },
  },
  { name: 'a cart', url: `${MERCHANT}?pv=1&vi=v1&ca=i%3ASKU1`, account: '0123456789ABCDEF', events: ['cart'] },
  { name: 'a page', url: `${MERCHANT}?pv=1&vi=v1`, account: '0123456789ABCDEF', events: ['go'] },
  {
    name: 'the library',
    url: 'https://cdn.scarabresearch.com/js/0123456789ABCDEF/scarab-v2.js',
    account: '0123456789ABCDEF',
    kind: 'library',
    events: [''],
  },
  { name: "the vendor's website", url: 'https://www.scarabresearch.com/', events: null },
])
