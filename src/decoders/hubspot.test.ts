import { testDecoder } from './decoder-cases.ts'
import { hubspot } from './hubspot.ts'

// https://developers.hubspot.com/docs/api-reference/legacy/tracking-code
testDecoder(hubspot, [
  {
    name: 'a page',
    url: 'https://track.hubspot.com/__ptq.gif?k=1&sd=1440x900&cd=24-bit&a=101&pu=https%3A%2F%2Fshop.example%2F&t=Shop',
    account: '101',
    events: ['page_view'],
    params: { pu: 'https://shop.example/' },
  },
  {
    name: 'a page event',
    url: 'https://track-eu1.hubspot.com/__ptq.gif?k=3&id=checkout&value=42.5&a=101',
    account: '101',
    events: ['checkout'],
    params: { value: '42.5' },
  },
  {
    name: 'a behavioural event',
    url: 'https://track.hubspot.com/__ptbe.gif?k=17&n=pe101_checkout&a=101',
    account: '101',
    events: ['pe101_checkout'],
  },
  {
    name: 'a form as JSON',
    url: 'https://api.hsforms.com/submissions/v3/integration/submit/101/5f0e8c1a-0000-4000-8000-000000000000',
    body: JSON.stringify({ fields: [{ name: 'email', value: 'jane@shop.example' }] }),
    account: '101',
    events: ['form_submission'],
    params: { 'fields.0.name': 'email' },
  },
  {
    name: 'a form-encoded form',
    url: 'https://forms.hubspot.com/uploads/form/v2/101/5f0e8c1a-0000-4000-8000-000000000000',
    body: 'firstname=Jane&hs_context=%7B%7D',
    account: '101',
    events: ['form_submission'],
    params: { firstname: 'Jane' },
  },
  {
    name: 'a collected form',
    url: 'https://forms.hscollectedforms.net/collected-forms/submit/form',
    body: JSON.stringify({ portalId: 101, formSelectorId: '#contact' }),
    account: '101',
    events: ['collected_form_submission'],
  },
  {
    name: 'a malformed form',
    url: 'https://api.hsforms.com/submissions/v3/integration/submit/101/5f0e/',
    body: '{"fields":',
    events: [],
    error: 'HubSpot: the body is not JSON',
  },
  {
    name: 'a view of a call to action',
    url: 'https://cta-na2.hubspot.com/web-interactives/public/v1/track/view?portalId=101&webInteractiveId=7',
    account: '101',
    events: ['view'],
  },
  { name: 'the library', url: 'https://js.hs-scripts.com/101.js', account: '101', kind: 'library', events: [''] },
  {
    name: 'another part of the library',
    url: 'https://js-eu1.hs-analytics.net/analytics/1700000000000/101.js',
    account: '101',
    kind: 'library',
    events: [''],
  },
  { name: "the vendor's website", url: 'https://www.hubspot.com/products/marketing', events: null },
  { name: "the vendor's app", url: 'https://app.hubspot.com/reports/101', events: null },
])
