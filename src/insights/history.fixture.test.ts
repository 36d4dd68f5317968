import { expect, test } from 'bun:test'
import { capturedEvents, capturesFolder } from '../warehouse/captures.fixture.ts'
import { openHistory } from './history.fixture.ts'

test('the generated history contains files of all levels and events of every kind', async () => {
  await using history = await openHistory()
  const { events, fixture } = history
  expect(events.length).toBeGreaterThanOrEqual(20_000)
  expect(new Set(fixture.levels())).toEqual(new Set(['compacted', 'merged', 'fresh']))
  expect(fixture.spool.files().length).toBeGreaterThan(0)
  expect(await fixture.count()).toEqual({ rows: events.length, events: events.length })
  expect(new Set(events.map(({ kind }) => kind))).toEqual(new Set(['event', 'hit', 'tag', 'library']))
  expect(new Set(events.map(({ env }) => env))).toEqual(new Set(['prod', 'dev']))
  for (const field of ['path', 'sessionId', 'status', 'execMs'] as const) {
    expect(events.some((event) => event[field] === null)).toBe(true)
    expect(events.some((event) => event[field] !== null)).toBe(true)
  }
  expect(events.some(({ weight }) => weight > 1)).toBe(true)
})

test('the generated history is the same each time', async () => {
  await using one = await openHistory({ events: 500 })
  await using other = await openHistory({ events: 500 })
  const said = ({ events, domains }: typeof one) =>
    events.map(({ orgId: _, domainId, ...event }) => ({
      ...event,
      domain: domains.findIndex(({ id }) => id === domainId),
    }))
  expect(said(one)).toEqual(said(other))
})

test.skipIf(capturesFolder === null)('real captures contain events of many vendors', () => {
  const events = capturedEvents(capturesFolder ?? '', { id: 'dom_1', orgId: 'org_1' })
  expect(events.length).toBeGreaterThan(100)
  expect(new Set(events.map(({ vendor }) => vendor)).size).toBeGreaterThan(10)
})
