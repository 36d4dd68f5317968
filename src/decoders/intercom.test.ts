import { testDecoder } from './decoder-cases.ts'
import { intercom } from './intercom.ts'

const form = (fields: Record<string, string>) => new URLSearchParams({ app_id: 'abc123', v: '3', ...fields }).toString()

// https://developers.intercom.com/installing-intercom/web/methods
testDecoder(intercom, [
  {
    name: 'a page',
    url: 'https://api-iam.intercom.io/messenger/web/ping',
    body: form({ page_title: 'Shop', user_data: '{"email":"jane@shop.example"}', referer: 'https://shop.example/' }),
    account: 'abc123',
    events: ['ping'],
    params: { 'user_data.email': 'jane@shop.example', referer: 'https://shop.example/' },
  },
  {
    name: 'a page event',
    url: 'https://api-iam.eu.intercom.io/messenger/web/events',
    body: form({ event_name: 'checkout', metadata: '{"value":42.5}' }),
    account: 'abc123',
    events: ['checkout'],
    params: { 'metadata.value': '42.5' },
  },
  {
    name: 'Messenger events',
    url: 'https://api-iam.intercom.io/messenger/web/metrics',
    body: form({
      metrics: JSON.stringify([
        { name: 'Viewed Article', metadata: { article_id: 170 } },
        { name: 'Opened Messenger', metadata: {} },
      ]),
    }),
    account: 'abc123',
    events: ['Viewed Article', 'Opened Messenger'],
    params: { 'metadata.article_id': '170' },
  },
  {
    name: 'a server event',
    url: 'https://api.intercom.io/events',
    body: JSON.stringify({ event_name: 'checkout', user_id: 'u1' }),
    events: ['checkout'],
  },
  { name: 'messages', url: 'https://nexus-websocket-a.intercom.io/pubsub/5-x', events: [] },
  {
    name: 'a body that is not JSON',
    url: 'https://api-iam.intercom.io/messenger/web/ping',
    body: '{"app_id":',
    events: [],
    error: 'Intercom: the body is not JSON',
  },
  {
    name: 'the library',
    url: 'https://widget.intercom.io/widget/abc123',
    account: 'abc123',
    kind: 'library',
    events: [''],
  },
  {
    name: 'other parts of the library',
    url: 'https://js.intercomcdn.com/frame-modern.3b42.js',
    kind: 'library',
    events: [''],
  },
  { name: 'an image', url: 'https://downloads.intercomcdn.com/i/o/1/a.png', events: null },
  { name: "the vendor's website", url: 'https://www.intercom.com/pricing', events: null },
])
