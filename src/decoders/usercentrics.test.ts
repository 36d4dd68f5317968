import { testDecoder } from './decoder-cases.ts'
import { usercentrics } from './usercentrics.ts'

// https://docs.usercentrics.com/#/browser-sdk
testDecoder(usercentrics, [
  {
    name: 'a displayed banner',
    url: 'https://uct.service.usercentrics.eu/uct?v=1&sid=AbCdEf123&t=1&r=shop.example&cb=1',
    account: 'AbCdEf123',
    events: ['CMP_SHOWN'],
    params: { r: 'shop.example' },
  },
  {
    name: 'a refusal in JSON',
    url: 'https://uct.eu.usercentrics.eu/uct',
    body: JSON.stringify({ eventType: 6, settingsId: 'AbCdEf123' }),
    account: 'AbCdEf123',
    events: ['DENY_ALL_FIRST_LAYER'],
  },
  {
    name: 'an unknown event code',
    url: 'https://uct.service.usercentrics.eu/uct?sid=A1&t=99',
    account: 'A1',
    events: ['99'],
  },
  {
    name: 'a consent',
    url: 'https://consent-api.service.consent.usercentrics.eu/consent/uw/3',
    body: JSON.stringify({
      action: 'onAcceptAllServices',
      settingsId: 'AbCdEf123',
      consents: [{ consentStatus: true }],
    }),
    account: 'AbCdEf123',
    events: ['onAcceptAllServices'],
    params: { 'consents.0.consentStatus': 'true' },
  },
  {
    name: 'a consent by GraphQL',
    url: 'https://graphql.usercentrics.eu/graphql',
    body: JSON.stringify({
      operationName: 'saveConsents',
      query: 'mutation saveConsents { }',
      variables: { consents: [{ settingsId: 'AbCdEf123', consentStatus: '1', action: 'onDenyAllServices' }] },
    }),
    account: 'AbCdEf123',
    events: ['saveConsents'],
    params: { 'consents.0.action': 'onDenyAllServices' },
  },
  {
    name: 'a session',
    url: 'https://app.usercentrics.eu/session/1px.png?settingsId=AbCdEf123',
    account: 'AbCdEf123',
    events: ['session'],
  },
  {
    name: 'a body that is not JSON',
    url: 'https://graphql.usercentrics.eu/graphql',
    body: 'x',
    events: [],
    error: 'Usercentrics: the body is not JSON',
  },
  {
    name: 'the settings',
    url: 'https://api.usercentrics.eu/settings/AbCdEf123/latest/en.json',
    account: 'AbCdEf123',
    kind: 'library',
    events: [''],
  },
  { name: 'the library', url: 'https://web.cmp.usercentrics.eu/ui/loader.js', kind: 'library', events: [''] },
  { name: "the vendor's website", url: 'https://usercentrics.com/pricing/', events: null },
])
