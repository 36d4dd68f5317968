import { adobeAudienceManager } from './adobe-audience-manager.ts'
import { testDecoder } from './decoder-cases.ts'

// https://experienceleague.adobe.com/en/docs/audience-manager/user-guide/api-and-sdk-code/dcs/dcs-api-reference/dcs-api-methods
testDecoder(adobeAudienceManager, [
  {
    name: 'traits of a page',
    url: 'https://shop.demdex.net/event?d_rtbd=json&d_mid=1&c_pageName=home',
    account: 'shop',
    events: ['event'],
    params: { c_pageName: 'home' },
  },
  { name: 'traits without a customer', url: 'https://dpm.demdex.net/event?d_uuid=1&d_cts=2', events: ['event'] },
  { name: 'a match of ids', url: 'https://dpm.demdex.net/ibs:dpid=7&dpuuid=u1', events: [] },
  { name: 'the frame', url: 'https://fast.shop.demdex.net/dest5.html?d_nsid=0', events: [''], kind: 'library' },
  { name: 'the id service', url: 'https://dpm.demdex.net/id?d_visid_ver=5.5.0&d_orgid=A%40AdobeOrg', events: null },
])
