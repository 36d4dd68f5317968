import { adobeAudienceManager } from './adobe-audience-manager.ts'
import { testDecoder } from './decoder-cases.ts'

// https://experienceleague.adobe.com/en/docs/audience-manager/user-guide/api-and-sdk-code/dcs/dcs-api-reference/dcs-api-methods
testDecoder(adobeAudienceManager, [
  {
    name: 'page traits',
    url: 'https://shop.demdex.net/event?d_rtbd=json&d_mid=1&c_pageName=home',
    account: 'shop',
    events: ['event'],
    params: { c_pageName: 'home' },
  },
  { name: 'traits without an account', url: 'https://dpm.demdex.net/event?d_uuid=1&d_cts=2', events: ['event'] },
  {
    name: 'an ID sync',
    url: 'https://dpm.demdex.net/ibs:d_dpid=411&dpuuid=a+b%2Fc&redir=https%3A%2F%2Fx.example%2F%3Fa%3D1',
    events: ['ibs'],
    params: { d_dpid: '411', dpuuid: 'a+b/c', redir: 'https://x.example/?a=1' },
  },
  {
    name: "an ID sync on the customer's host",
    url: 'https://shop.demdex.net/ibs:dpid=411&dpuuid=u1?gdpr=1&dpid=7',
    account: 'shop',
    events: ['ibs'],
    params: { dpid: '411', dpuuid: 'u1', gdpr: '1', 'dpid.1': '7' },
  },
  {
    name: 'a repeated ID sync',
    url: 'https://dpm.demdex.net/demconf.jpg?et:ibs%7cdata:dpid=1121&dpuuid=7&redir=',
    events: [],
  },
  {
    name: 'declared IDs',
    url: 'https://shop.demdex.net/event?d_cid=411%01u1%011&d_cid_ic=crm%01u2&d_cid=7%01u3&d_cid=7%01u4',
    account: 'shop',
    events: ['event'],
    params: {
      d_cid: '411\u0001u1\u00011',
      'd_cid.411': 'u1',
      'd_cid.411.state': '1',
      'd_cid_ic.crm': 'u2',
      'd_cid.7': 'u3',
      'd_cid.7.1': 'u4',
    },
  },
  {
    name: 'the iframe',
    url: 'https://fast.shop.demdex.net/dest5.html?d_nsid=0',
    account: 'shop',
    events: [''],
    kind: 'library',
  },
  { name: 'the ID service', url: 'https://dpm.demdex.net/id?d_visid_ver=5.5.0&d_orgid=A%40AdobeOrg', events: null },
])
