import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { requestsOfHar } from '../browser/har-requests.ts'
import { decodeHit } from '../decoders/index.ts'
import { readBody } from '../decoders/request-body.ts'
import { duplicatesIn, isCounter, type Repeatable } from './duplicate-events.ts'

const GA4 = 'Google Analytics 4'
const event = (vendor: string, params: Record<string, string>, name = 'purchase'): Repeatable => ({
  vendor,
  event: name,
  account: '1',
  params,
})

describe('duplicate detection', () => {
  test.each<[string, string, Record<string, string>, Record<string, string>, boolean]>([
    ['the same data', 'Any', { a: '1' }, { a: '1' }, true],
    ['in another order', 'Any', { a: '1', b: '2' }, { b: '2', a: '1' }, true],
    ['another value', 'Any', { a: '1' }, { a: '2' }, false],
    ['an additional parameter', 'Any', { a: '1' }, { a: '1', b: '1' }, false],
    ['another order', 'Any', { order_id: 'T1' }, { order_id: 'T2' }, false],
    ['another position', 'Any', { position: '1' }, { position: '2' }, false],
    ['another time', 'Any', { ts: '1' }, { ts: '2' }, true],
    ['another time in words', 'Any', { 'context.clientTimestamp': '1' }, { 'context.clientTimestamp': '2' }, true],
    ['another instant', 'Any', { t: '1767614399500' }, { t: '1767614399950' }, true],
    ['another instant in ISO 8601', 'Any', { at: '2026-01-05T12:00:00.1Z' }, { at: '2026-01-05T12:00:00.2Z' }, true],
    ['another Adobe timestamp', 'Any', { t: '23/10/2026 9:29:57 1 0' }, { t: '23/10/2026 9:29:58 1 0' }, true],
    ['another day', 'Any', { checkin: '2026-01-05' }, { checkin: '2026-01-06' }, false],
    ['another article number', 'Any', { sku: '4006381333931' }, { sku: '4006381333948' }, false],
    ['another random number', 'Any', { 'q.rnd': '1' }, { 'q.rnd': '2' }, true],
    ['another message', 'Segment', { messageId: 'a' }, { messageId: 'b' }, true],
    [
      'another Google hit',
      GA4,
      { _s: '1', _p: '2', tfd: '3', _fv: '1', dl: 'x' },
      { _s: '2', _p: '2', tfd: '9', dl: 'x' },
      true,
    ],
    ['another page', GA4, { dl: 'https://a.example/?q=1' }, { dl: 'https://a.example/?q=2' }, false],
    ['another Google order', GA4, { 'ep.transaction_id': '1' }, { 'ep.transaction_id': '2' }, false],
    [
      'another time in a page parameter',
      GA4,
      { 'epn.engagement_time_msec': '1' },
      { 'epn.engagement_time_msec': '2' },
      true,
    ],
    ['another item', GA4, { 'pr1.item_id': 'a' }, { 'pr1.item_id': 'b' }, false],
    [
      'another Meta call',
      'Meta Pixel',
      { ts: '1', ec: '0', eid: 'a', 'cd[value]': '1' },
      { ts: '2', ec: '1', eid: 'b', 'cd[value]': '1' },
      true,
    ],
    ['another Meta value', 'Meta Pixel', { 'cd[value]': '1' }, { 'cd[value]': '2' }, false],
    ['another second', 'Matomo', { h: '1', m: '2', s: '3' }, { h: '1', m: '2', s: '4' }, true],
  ])('compares the parameters of events: %s', (_name, vendor, one, other, same) => {
    expect(duplicatesIn([event(vendor, one), event(vendor, other)])).toHaveLength(same ? 1 : 0)
  })

  test.each<[string, Partial<Repeatable>]>([
    ['vendor', { vendor: 'Other' }],
    ['event', { event: 'refund' }],
    ['account', { account: '2' }],
    ['page', { path: '/b' }],
    ['host', { host: 'b.example' }],
  ])('requires the same %s', (_name, fields) => {
    const one = event('Any', {})
    expect(duplicatesIn([one, { ...one, ...fields }])).toEqual([])
  })

  test.each(['ping', 'Heartbeat', 'video_heartbeat', 'user_engagement', 'upload'])(
    'ignores intentional repeats of %s',
    (name) => {
      expect(duplicatesIn([event('Any', {}, name), event('Any', {}, name)])).toEqual([])
    },
  )
})

test('groups of duplicates are complete and ordered by their first event', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((x) => event('Any', { x }))
  if (!a || !b || !c) throw new Error('three')
  expect(duplicatesIn([b, a, c, a, b, a])).toEqual([
    [b, b],
    [a, a, a],
  ])
})

test('names of inherited object properties are not treated as counters', () => {
  expect(isCounter('constructor', 'constructor', '1')).toBe(false)
})

/** Captured with the vendors' own libraries. These recordings contain no duplicates. */
const FOLDER = join(import.meta.dir, '../../test/recordings')
test.each(readdirSync(FOLDER).filter((name) => name.endsWith('.har')))('%s contains no duplicate events', (name) => {
  const requests = requestsOfHar(JSON.parse(readFileSync(join(FOLDER, name), 'utf8'))) ?? []
  const events = requests.flatMap(({ hit }) => {
    const { vendor, events } = decodeHit({ url: hit.url, method: hit.method, body: readBody(hit).text })
    return vendor === null ? [] : events.filter(({ kind }) => kind === 'event').map((one) => ({ ...one, vendor }))
  })
  expect(duplicatesIn(events).map(([{ event, params }, { params: again }]) => [event, params, again])).toEqual([])
})
