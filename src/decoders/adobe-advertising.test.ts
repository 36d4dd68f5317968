import { adobeAdvertising } from './adobe-advertising.ts'
import { testDecoder } from './decoder-cases.ts'

// https://experienceleague.adobe.com/en/docs/advertising/search-social-commerce/tracking/conversion-tracking
testDecoder(adobeAdvertising, [
  {
    name: 'a transaction',
    url: 'https://pixel.everesttech.net/px2/1234?px_evt=t&ev_Orders=1&ev_transid=T1',
    account: '1234',
    events: ['transaction'],
    params: { ev_transid: 'T1' },
  },
  {
    name: 'a view',
    url: 'https://pixel.everesttech.net/1234/v?ev___loc=https%3A%2F%2Fshop.example%2F',
    account: '1234',
    events: ['view'],
  },
  { name: 'an ID sync', url: 'https://cm.everesttech.net/cm/dd?d_uuid=1', events: [] },
  { name: 'the library', url: 'https://www.everestjs.net/static/st.v3.js', events: [''], kind: 'library' },
  {
    name: "a customer's library",
    url: 'https://www.everestjs.net/dl/4083/4083-12969.js',
    account: '4083',
    events: [''],
    kind: 'library',
  },
  { name: 'another site', url: 'https://shop.example/px2/1234?px_evt=t', events: null },
])
