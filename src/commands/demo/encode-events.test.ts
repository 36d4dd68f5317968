import { expect, test } from 'bun:test'
import { TEST_START } from '../../../test/fixtures.ts'
import type { StoredEvent } from '../../core/event.ts'
import type { CollectorDomain } from '../../domains/domain-directory.ts'
import { decodeBatch } from '../../ingest/decode-batch.ts'
import { type ImportedEvent, readLine } from '../../ingest/import-line.ts'
import { visitorSegments } from '../../visitor/visitor-segments.ts'
import { batchesOf, importLine } from './encode-events.ts'
import { demoTimelineOf, SampleSites } from './sample-sites.ts'
import type { SiteEvent } from './simulated-site.ts'

const NOW = TEST_START
const plot = demoTimelineOf(NOW)
const { events } = new SampleSites(plot).until(plot.from + 3 * 86_400_000)
const DOMAIN: CollectorDomain = {
  id: 'dom_1',
  orgId: 'org_1',
  customerSalt: 'salt',
  vendors: [],
  nameVendor: () => null,
  pageViewRate: { dev: 1, prod: 1 },
  capture: { enabled: true, sampleRate: { prod: 1, dev: 1 }, sessionMode: 'memory' },
}
/** Returns the fields that must be the same after import and after collection. */
const factsOf = (event: StoredEvent | ImportedEvent) => {
  const { vendor, kind, account, host, path, title, sessionId, status, execMs, durMs, version, params, ts, env } = event
  const { browser, browserVersion, os, device, language, consent } = 'segments' in event ? event.segments : event
  const segments = { browser, browserVersion, os, device, language, consent }
  const named = { vendor, kind, event: event.event, account, host, path, title, sessionId, status, version }
  return { ...named, execMs, durMs, params, ts, env, segments }
}

function collected(event: SiteEvent) {
  let seq = 0
  const [sent] = batchesOf([event], NOW)
  const { events: stored, answer } = decodeBatch(sent?.batch ?? {}, {
    domain: DOMAIN,
    receivedAt: NOW,
    visitor: visitorSegments(sent?.batch ?? {}, new Request('http://localhost')),
    nextSeq: () => ++seq,
    isDenied: () => false,
    judge: () => [],
  })
  expect(answer.errors).toEqual([])
  return stored.map(factsOf)
}

function imported(event: SiteEvent) {
  const domain = { id: 'dom_1', orgId: 'org_1', customerSalt: 'salt', denied: new Set<string>() }
  const rules = { domains: new Map([['dom_1', domain]]), domainId: null, from: plot.from, to: NOW }
  const read = readLine(JSON.parse(importLine(event, 'dom_1')), 1, rules)
  return [read.event ? factsOf(read.event) : read.error]
}

test('imported events are the same as the collector would have stored, for each vendor and event', () => {
  const kinds = Map.groupBy(events, ({ host, of, event }) => `${host} ${of.vendor} ${event}`)
  expect(kinds.size).toBeGreaterThan(22)
  for (const own of kinds.values())
    for (const event of own.slice(0, 10)) expect(imported(event)).toEqual(collected(event))
})

test('each page of a visit is one batch with all of its events', () => {
  const some = events.slice(0, 500)
  const batches = batchesOf(some, NOW)
  expect(batches.length).toBeLessThan(some.length / 2)
  expect(batches.reduce((sum, { batch }) => sum + batch.hits.length + batch.tags.length, 0)).toBe(some.length)
})
