import { testDecoder } from './decoder-cases.ts'
import { optimizely } from './optimizely.ts'

const URL_OF_EVENTS = 'https://logx.optimizely.com/v1/events'

// https://docs.developers.optimizely.com/web-experimentation/docs/event-api
testDecoder(optimizely, [
  {
    name: 'events from the snippet',
    url: URL_OF_EVENTS,
    body: JSON.stringify({
      account_id: '101',
      project_id: '102',
      client_name: 'js',
      visitors: [
        {
          visitor_id: 'oeu1',
          attributes: [{ t: 'device', v: 'mobile' }],
          snapshots: [
            {
              decisions: [{ c: '7', x: '8', v: '9' }],
              events: [
                { y: 'client_activation', u: 'a', t: 1 },
                { y: 'view_activated', k: '102_checkout-102_all', e: '5', t: 2 },
                { y: 'other', k: 'add_to_cart', e: '6', t: 3 },
              ],
            },
          ],
        },
      ],
    }),
    account: '101',
    events: ['client_activation', 'view_activated', 'add_to_cart'],
    params: { project_id: '102', visitor_id: 'oeu1', 'decisions.0.c': '7', 'attributes.0.t': 'device' },
  },
  {
    name: 'an event from an SDK',
    url: URL_OF_EVENTS,
    body: JSON.stringify({
      account_id: '101',
      visitors: [
        {
          visitor_id: 'u1',
          snapshots: [{ events: [{ entity_id: '9', key: 'purchase', type: 'purchase', revenue: 4250 }] }],
        },
      ],
    }),
    account: '101',
    events: ['purchase'],
    params: { revenue: '4250', entity_id: '9' },
  },
  {
    name: 'an event in the old format',
    url: 'https://logx.optimizely.com/log/event',
    body: JSON.stringify({ accountId: '101', eventType: 'custom_event', eventName: 'sign_up', projectId: '102' }),
    account: '101',
    events: ['sign_up'],
  },
  {
    name: 'a page view in Optimizely Classic',
    url: 'https://101.log.optimizely.com/event?a=101&d=101&src=js&n=https%3A%2F%2Fshop.example%2F&u=oeu1',
    account: '101',
    events: ['page_view'],
  },
  {
    name: 'an event in Optimizely Classic',
    url: 'https://101.log.optimizely.com/event?a=101&n=sign_up&u=oeu1',
    account: '101',
    events: ['sign_up'],
  },
  { name: 'a request without events', url: URL_OF_EVENTS, body: '{"visitors":7}', events: [] },
  {
    name: 'a body that is not JSON',
    url: URL_OF_EVENTS,
    body: 'x',
    events: [],
    error: 'Optimizely: the body is not JSON',
  },
  { name: 'the library', url: 'https://cdn.optimizely.com/js/103.js', account: '103', kind: 'library', events: [''] },
  { name: 'the settings', url: 'https://cdn.optimizely.com/datafiles/Abc1.json', kind: 'library', events: [''] },
  { name: "the vendor's website", url: 'https://www.optimizely.com/products/', events: null },
  { name: "the vendor's app", url: 'https://app.optimizely.com/js/1/', events: null },
])
