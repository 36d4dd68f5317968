import { testDecoder } from './decoder-cases.ts'
import { klaviyo } from './klaviyo.ts'

const CLIENT = 'https://a.klaviyo.com/client'
const event = (name: string) => ({
  type: 'event',
  attributes: {
    metric: { data: { type: 'metric', attributes: { name } } },
    profile: { data: { type: 'profile', attributes: { email: 'a@shop.example' } } },
    properties: { sku: 'S1' },
  },
})

// https://developers.klaviyo.com/en/reference/create_client_event
testDecoder(klaviyo, [
  {
    name: 'an event',
    url: `${CLIENT}/events/?company_id=AbC123`,
    body: JSON.stringify({ data: event('Viewed Product') }),
    account: 'AbC123',
    events: ['Viewed Product'],
    params: { 'attributes.properties.sku': 'S1' },
  },
  {
    name: 'several events',
    url: `${CLIENT}/event-bulk-create/?company_id=AbC123`,
    body: JSON.stringify({ data: { type: 'event-bulk', attributes: { events: { data: [event('A'), event('B')] } } } }),
    account: 'AbC123',
    events: ['A', 'B'],
  },
  {
    name: 'a profile',
    url: `${CLIENT}/profiles/?company_id=AbC123`,
    body: '{"data":{"type":"profile","attributes":{"email":"a@shop.example"}}}',
    account: 'AbC123',
    events: ['profile'],
  },
  {
    name: 'a subscription',
    url: `${CLIENT}/subscriptions/?company_id=AbC123`,
    body: '{"data":{"type":"subscription","attributes":{}}}',
    account: 'AbC123',
    events: ['subscription'],
  },
  {
    name: 'the legacy API',
    url: `https://a.klaviyo.com/api/track?data=${btoa('{"token":"AbC123","event":"Order","properties":{"value":5}}')}`,
    account: 'AbC123',
    events: ['Order'],
    params: { 'properties.value': '5' },
  },
  {
    name: "the visitor's identity in the legacy API",
    url: 'https://a.klaviyo.com/api/identify',
    body: `data=${encodeURIComponent('{"token":"AbC123","properties":{"$email":"a@shop.example"}}')}`,
    account: 'AbC123',
    events: ['identify'],
  },
  {
    name: 'form statistics',
    url: 'https://a.klaviyo.com/onsite/track-analytics?company_id=AbC123',
    body: '{"metric_group":"onsite","events":[]}',
    events: [],
  },
  {
    name: 'the library',
    url: 'https://static.klaviyo.com/onsite/js/AbC123/klaviyo.js',
    account: 'AbC123',
    events: [''],
    kind: 'library',
  },
  {
    name: 'the library with an API key in the query',
    url: 'https://static.klaviyo.com/onsite/js/klaviyo.js?company_id=AbC123',
    account: 'AbC123',
    events: [''],
    kind: 'library',
  },
  { name: 'a malformed body', url: `${CLIENT}/events/`, body: '{', events: [], error: 'Klaviyo: the body is not JSON' },
  { name: "the vendor's website", url: 'https://www.klaviyo.com/', events: null },
  {
    name: 'a server event',
    url: 'https://a.klaviyo.com/api/events/',
    body: JSON.stringify({
      data: {
        type: 'event',
        attributes: { value: 59.9, unique_id: 'e1', metric: { data: { attributes: { name: 'Placed Order' } } } },
      },
    }),
    events: ['Placed Order'],
    params: { 'attributes.value': '59.9', 'attributes.unique_id': 'e1' },
  },
  {
    name: 'server events in bulk',
    url: 'https://a.klaviyo.com/api/event-bulk-create-jobs',
    body: JSON.stringify({
      data: {
        type: 'event-bulk-create-job',
        attributes: {
          'events-bulk-create': {
            data: ['A', 'B'].map((name) => ({
              attributes: {
                profile: { data: { id: `of ${name}` } },
                events: { data: [{ type: 'event', attributes: { metric: { data: { attributes: { name } } } } }] },
              },
            })),
          },
        },
      },
    }),
    events: ['A', 'B'],
    params: { 'profile.data.id': 'of A' },
  },
  { name: 'a server query', url: 'https://a.klaviyo.com/api/events/?filter=x', events: [] },
])
