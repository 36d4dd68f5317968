import { adobeExperienceCloudId } from './adobe-experience-cloud-id.ts'
import { testDecoder } from './decoder-cases.ts'

// https://experienceleague.adobe.com/en/docs/id-service/using/home
testDecoder(adobeExperienceCloudId, [
  {
    name: 'an ID request with IDs of other services',
    url: 'https://dpm.demdex.net/id?d_visid_ver=5.5.0&d_orgid=ABC%40AdobeOrg&d_cid_ic=crm%01u1%010',
    account: 'ABC@AdobeOrg',
    events: ['id'],
    params: { 'd_cid_ic.crm': 'u1', 'd_cid_ic.crm.state': '0' },
  },
  {
    name: 'an Experience Cloud ID request',
    url: 'https://dpm.demdex.net/id?d_visid_ver=5.5.0&d_fieldgroup=MC&d_orgid=ABC%40AdobeOrg&ts=1',
    account: 'ABC@AdobeOrg',
    events: ['id'],
    params: { d_fieldgroup: 'MC' },
  },
  {
    name: "an Analytics ID request on the shop's host",
    url: 'https://smetrics.shop.example/id?d_visid_ver=5.5.0&d_fieldgroup=A&mcorgid=ABC%40AdobeOrg&mid=1',
    account: 'ABC@AdobeOrg',
    events: ['id'],
  },
  {
    name: 'a repeated request',
    url: 'https://dpm.demdex.net/id/rd?d_visid_ver=5.5.0&d_orgid=ABC%40AdobeOrg',
    events: [],
  },
  { name: 'the library', url: 'https://shop.example/VisitorAPI.js', events: [''], kind: 'library' },
  { name: "the same path on a shop's page", url: 'https://shop.example/id?ts=1', events: null },
])
