import { adobeExperienceCloudId } from './adobe-experience-cloud-id.ts'
import { testDecoder } from './decoder-cases.ts'

// https://experienceleague.adobe.com/en/docs/id-service/using/home
testDecoder(adobeExperienceCloudId, [
  {
    name: 'an id with the ids of other services',
    url: 'https://dpm.demdex.net/id?d_visid_ver=5.5.0&d_orgid=ABC%40AdobeOrg&d_cid_ic=crm%01u1%010',
    account: 'ABC@AdobeOrg',
    events: ['id'],
    params: { 'd_cid_ic.crm': 'u1', 'd_cid_ic.crm.state': '0' },
  },
  {
    name: 'an id of the Experience Cloud',
    url: 'https://dpm.demdex.net/id?d_visid_ver=5.5.0&d_fieldgroup=MC&d_orgid=ABC%40AdobeOrg&ts=1',
    account: 'ABC@AdobeOrg',
    events: ['id'],
    params: { d_fieldgroup: 'MC' },
  },
  {
    name: 'an id of Analytics under the name of a shop',
    url: 'https://smetrics.shop.example/id?d_visid_ver=5.5.0&d_fieldgroup=A&mcorgid=ABC%40AdobeOrg&mid=1',
    account: 'ABC@AdobeOrg',
    events: ['id'],
  },
  { name: 'the same again', url: 'https://dpm.demdex.net/id/rd?d_visid_ver=5.5.0&d_orgid=ABC%40AdobeOrg', events: [] },
  { name: 'the library', url: 'https://shop.example/VisitorAPI.js', events: [''], kind: 'library' },
  { name: 'a page of a shop', url: 'https://shop.example/id?ts=1', events: null },
])
