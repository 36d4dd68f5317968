import { testDecoder } from './decoder-cases.ts'
import { kameleoon } from './kameleoon.ts'

// https://developers.kameleoon.com/apis/data-api-rest/overview
testDecoder(kameleoon, [
  {
    name: 'custom data values',
    url: `https://data.kameleoon.io/visit/events?siteCode=abc123def4&eventType=customData&index=1&valuesCountMap=${encodeURIComponent('{"gold":1}')}`,
    account: 'abc123def4',
    events: ['customData'],
    params: { valuesCountMap: '{"gold":1}', 'valuesCountMap.gold': '1' },
  },
  {
    name: 'a visit',
    url: 'https://data.kameleoon.io/visit/events?siteCode=abc123def4&sdkName=js&sdkVersion=4.17.1',
    body: [
      'eventType=page&href=https%3A%2F%2Fshop.example%2F&title=Shop&nonce=n1&visitorCode=v1',
      'eventType=conversion&goalId=123&revenue=42.5&nonce=n2&visitorCode=v1',
      'eventType=experiment&id=7&variationId=8&nonce=n3&visitorCode=v1',
    ].join('\n'),
    account: 'abc123def4',
    events: ['page', 'conversion', 'experiment'],
    params: { href: 'https://shop.example/', visitorCode: 'v1', sdkName: 'js' },
  },
  {
    name: 'an event in the query',
    url: 'https://eu-data.kameleoon.io/visit/tracking?siteCode=abc123def4&eventType=activity&visitorCode=v1',
    account: 'abc123def4',
    events: ['activity'],
  },
  {
    name: 'visitor properties',
    url: 'https://data.kameleoon.io/visit/visitor?siteCode=abc123def4',
    events: [],
  },
  {
    name: 'the library',
    url: 'https://abc123def4.kameleoon.io/engine.js',
    account: 'abc123def4',
    kind: 'library',
    events: [''],
  },
  {
    name: 'the settings',
    url: 'https://sdk-config.kameleoon.eu/v3/abc123def4',
    account: 'abc123def4',
    kind: 'library',
    events: [''],
  },
  { name: "the vendor's website", url: 'https://www.kameleoon.com/pricing', events: null },
])
