import { testDecoder } from './decoder-cases.ts'
import { onetrust } from './onetrust.ts'

const RECEIPTS = 'https://privacyportal-eu.onetrust.com/request/v1/consentreceipts'
const DATA_ID = '0f1e2d3c-0000-4000-8000-000000000000'
const receipt = {
  requestInformation: `e30.${btoa(JSON.stringify({ processId: 'p-1', tenantId: 't-1' }))}.sig`,
  identifier: 'u1',
  purposes: [{ Id: 'marketing', TransactionType: 'OPT_OUT' }],
}

// https://developer.onetrust.com/onetrust/reference/createconsentreceiptusingpost
testDecoder(onetrust, [
  {
    name: 'a consent receipt',
    url: RECEIPTS,
    body: JSON.stringify(receipt),
    account: 'p-1',
    events: ['consent_receipt'],
    params: { 'purposes.0.Id': 'marketing', 'purposes.0.TransactionType': 'OPT_OUT' },
    without: ['requestInformation'],
  },
  {
    name: 'a consent receipt without a token',
    url: RECEIPTS,
    body: JSON.stringify({ identifier: 'u1', requestInformation: 'x' }),
    events: ['consent_receipt'],
  },
  {
    name: 'a malformed consent receipt',
    url: RECEIPTS,
    body: '{',
    events: [],
    error: 'OneTrust: the body is not JSON',
  },
  {
    name: "a domain's settings",
    url: `https://cdn.cookielaw.org/consent/${DATA_ID}/${DATA_ID}.json`,
    account: DATA_ID,
    kind: 'library',
    events: [''],
  },
  {
    name: "a domain's test script",
    url: `https://cdn.cookielaw.org/consent/${DATA_ID}-test/otSDKStub.js`,
    account: DATA_ID,
    kind: 'library',
    events: [''],
  },
  { name: 'the library', url: 'https://cdn.cookielaw.org/scripttemplates/otSDKStub.js', kind: 'library', events: [''] },
  {
    name: "the visitor's country",
    url: 'https://geolocation.onetrust.com/cookieconsentpub/v1/geo/location',
    events: [],
  },
  { name: "the vendor's website", url: 'https://www.onetrust.com/products/', events: null },
])
