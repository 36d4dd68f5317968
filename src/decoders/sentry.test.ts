import { testDecoder } from './decoder-cases.ts'
import { sentry } from './sentry.ts'

const URL = 'https://o1.ingest.sentry.io/api/4501/envelope/?sentry_key=abc&sentry_version=7'
const DSN = 'https://abc@o1.ingest.sentry.io/4501'
const error = {
  level: 'error',
  release: 'shop@7',
  exception: { values: [{ type: 'TypeError', value: 'x is undefined', stacktrace: { frames: [{ lineno: 1 }] } }] },
  breadcrumbs: [{ message: 'a' }],
}
const lines = (...values: unknown[]) =>
  values.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('\n')
const payload = JSON.stringify({ message: 'ü\n{"type":"span"}' })

// https://develop.sentry.dev/sdk/data-model/envelopes/
testDecoder(sentry, [
  {
    name: 'an error',
    url: URL,
    body: lines({ event_id: 'e1', dsn: DSN }, { type: 'event' }, error),
    account: '4501',
    events: ['event'],
    params: { event_id: 'e1', release: 'shop@7', 'exception.values.0.type': 'TypeError' },
    without: ['exception.values.0.stacktrace.frames.0.lineno', 'breadcrumbs.0.message'],
  },
  {
    name: 'several items, with and without lengths',
    url: URL,
    body: lines(
      { sent_at: '2026-01-01T00:00:00Z' },
      { type: 'session' },
      { sid: 's1', status: 'ok' },
      { type: 'transaction', length: Buffer.byteLength(payload) },
      payload,
      { type: 'client_report', length: 2 },
      '{}',
      '',
    ),
    account: '4501',
    events: ['session', 'transaction', 'client_report'],
    params: { sid: 's1' },
  },
  {
    name: 'a recording with binary data',
    url: URL,
    body: lines(
      {},
      { type: 'replay_event' },
      { replay_id: 'r1' },
      { type: 'replay_recording', length: 90 },
      '{"segment_id":0}',
      'x\uFFFD\n\uFFFDx',
    ),
    account: '4501',
    events: ['replay_event', 'replay_recording'],
    params: { replay_id: 'r1' },
  },
  {
    name: 'an event through a tunnel',
    url: 'https://shop.example/monitoring?o=1&p=4501',
    body: lines({ event_id: 'e1', dsn: DSN }, { type: 'event' }, error),
    account: '4501',
    events: ['event'],
  },
  {
    name: 'an event on a self-hosted server',
    url: 'https://errors.shop.example/api/7/envelope/?sentry_key=abc',
    body: lines({}, { type: 'event' }, {}),
    account: '7',
    events: ['event'],
  },
  {
    name: 'a single event',
    url: 'https://o1.ingest.sentry.io/api/4501/store/?sentry_key=abc',
    body: JSON.stringify(error),
    account: '4501',
    events: ['event'],
    params: { level: 'error' },
  },
  { name: 'an empty envelope', url: URL, body: '{}\n', events: [] },
  { name: 'a body that is not an envelope', url: URL, body: 'x', events: [] },
  {
    name: 'a browser report',
    url: 'https://o1.ingest.sentry.io/api/4501/security/?sentry_key=abc',
    body: '{}',
    events: [],
  },
  { name: 'the library', url: 'https://browser.sentry-cdn.com/9.0.0/bundle.min.js', events: [''], kind: 'library' },
  {
    name: 'an unrelated body under the same path',
    url: 'https://shop.example/monitoring',
    body: '{"dsn":"none"}\n{"type":"event"}',
    events: null,
  },
])
