import { bazaarvoice } from './bazaarvoice.ts'
import { testDecoder } from './decoder-cases.ts'

// https://developers.bazaarvoice.com/v1.0-ConversationsAPI/docs/bv-pixel
testDecoder(bazaarvoice, [
  {
    name: 'a page',
    url: 'https://network.bazaarvoice.com/a.gif?client=Shop&cl=PageView&type=Product&productId=SKU1&host=shop.example',
    account: 'Shop',
    events: ['PageView'],
    params: { productId: 'SKU1', type: 'Product' },
  },
  {
    name: 'several events',
    url: 'https://network.bazaarvoice.com/st.gif?client=Shop&host=shop.example&r_batch=!((cl:Feature,name:Write,type:Used),(cl:Conversion,type:Transaction,total:42.5))&_=1',
    account: 'Shop',
    events: ['Feature', 'Conversion'],
    params: { name: 'Write', host: 'shop.example' },
    without: ['r_batch'],
  },
  {
    name: 'an unreadable batch',
    url: 'https://network.bazaarvoice.com/st.gif?client=Shop&r_batch=!((cl',
    events: [],
  },
  { name: "the visitor's ID", url: 'https://network.bazaarvoice.com/sid.gif?_=1', events: [] },
  {
    name: 'the library',
    url: 'https://apps.bazaarvoice.com/deployments/shop/main_site/production/en_US/bv.js',
    account: 'shop',
    kind: 'library',
    events: [''],
  },
  { name: "the vendor's website", url: 'https://www.bazaarvoice.com/products/', events: null },
])
