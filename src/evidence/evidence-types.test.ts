import { afterEach, describe, expect, test } from 'bun:test'
import type { AlertInput } from '../alerts/alert.ts'
import type { Condition } from '../conditions/condition.ts'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import { applyFindings } from '../issues/store.ts'
import { HOUR } from '../warehouse/warehouse.fixture.ts'
import { CALLERS, EvidenceFixture } from './evidence.fixture.ts'

let world: EvidenceFixture
afterEach(() => world.fixture[Symbol.asyncDispose]())

test('the evidence of an anomaly includes the rows of its series', async () => {
  world = await EvidenceFixture.open()
  const { db, clock } = world.fixture
  const alert = world.watch({ alertType: 'volume_anomaly', volume: { vendor: '*', sensitivity: 5 } })
  for (const minute of [5, 10, 70]) await world.send(minute, { id: 'one' })
  await world.send(71, { event: 'view' })
  await world.send(72, { vendor: 'Other' })
  clock.set(HOUR + 130 * MINUTE_MS)
  const [from, to] = [HOUR + HOUR_MS, HOUR + 2 * HOUR_MS]
  const finding = {
    domainId: world.domainId,
    subject: 'Shop purchase',
    vendor: 'Shop',
    event: 'purchase',
    occurrences: 1,
    summary: '1 event, about 2 expected',
    observed: 1,
    expected: 2,
    firstAt: from,
    lastAt: to - 1,
    hosts: [],
    sample: null,
    sampleSeq: null,
  }
  const facts = { ...alert, impactValue: null, periodMs: HOUR_MS }
  const window = { from, to, complete: true }
  const evaluation = { alert: facts, findings: [finding], window, windowStartAt: from, inRunWindow: true, now: to }
  applyFindings(db, evaluation, () => {})
  const { series, grain, goodSample, events, explainedBy } = await world.ask(world.issueOf(alert))
  expect({ grain, events, explainedBy }).toEqual({ grain: 'hour', events: [], explainedBy: null })
  expect(goodSample).toMatchObject({ id: 'one', vendor: 'Shop', event: 'purchase' })
  expect(series.slice(-3)).toMatchObject([
    { start: HOUR, observed: 2, expected: null, partial: false },
    { start: from, observed: 1, expected: 2, partial: false },
    { start: to, observed: 0, partial: true },
  ])
})

describe('the evidence of a journey', () => {
  const steps = (data: Condition[]) =>
    ({
      alertType: 'journey',
      journey: {
        version: 2,
        steps: [{ anchor: { kind: 'page', path: '/thanks' }, expect: [{ vendor: 'Shop', event: 'purchase', data }] }],
      },
    }) satisfies Partial<AlertInput>
  const thanks = { event: 'page_view', path: '/thanks' }

  /** Sends a complete session, a session without the purchase, and a session with an unexpected purchase. */
  async function journeyStory(data: Condition[], params: Record<string, string>) {
    world = await EvidenceFixture.open()
    const alert = world.watch(steps(data))
    await world.send(1, { sessionId: 'a', ...thanks, params })
    await world.send(2, { id: 'met', sessionId: 'a', params: { ...params, value: '5' } })
    await world.send(3, { id: 'bad', sessionId: 'b', ...thanks, params })
    await world.send(4, { sessionId: 'b', params: { value: 'none' } })
    await world.evaluate(alert, 0, 60)
    return { alert, issueId: world.issueOf(alert) }
  }

  test('shows observed and expected events, and sessions per day', async () => {
    const { issueId } = await journeyStory([{ parameter: 'value', op: 'gt', values: ['1'] }], {})
    expect(await world.ask(issueId)).toMatchObject({
      issue: { occurrences: 1 },
      badSample: { id: 'bad', path: '/thanks' },
      goodSample: { id: 'met', vendor: 'Shop', event: 'purchase', params: { value: '5' } },
      events: [],
      grain: 'day',
    })
    const { series } = await world.ask(issueId)
    expect(series.at(-1)).toMatchObject({ observed: 1, expected: 0, partial: true })
    expect(series.slice(0, -1).map(({ observed }) => observed)).toEqual([0, 0, 0, 0, 0, 0])
  })

  const personal: Pick<Condition, 'op' | 'values'> = { op: 'custom_pii_regex', values: ['DE[0-9]+'] }
  test.each<[string, Condition, Record<string, string>]>([
    ['one key', { parameter: 'iban', ...personal }, { iban: 'DE12345' }],
    ['any key', { parameter: '*', ...personal }, { anything: 'of DE12345' }],
    ['an e-mail address', { parameter: 'to', op: 'contains_email' }, { to: 'DE12345@example.com' }],
  ])('masks personal values for all users: %s', async (_, condition, params) => {
    const { alert, issueId } = await journeyStory(
      [condition, { parameter: 'value', op: 'equals', values: ['5'] }],
      params,
    )
    const answers = async () => await Promise.all(CALLERS.map((caller) => world.ask(issueId, caller)))
    for (const answer of await answers()) {
      expect(answer).toMatchObject({ badSample: { id: 'bad' }, goodSample: { id: 'met' } })
      expect(JSON.stringify({ ...answer, alert: null })).not.toContain('12345')
    }
    world.remove(alert)
    for (const answer of await answers()) {
      expect(answer).toMatchObject({ alert: null, badSample: { id: 'bad' }, goodSample: null })
      expect(JSON.stringify(answer)).not.toContain('12345')
    }
  })

  test('has no valid sample when sessions missed several steps or a label', async () => {
    world = await EvidenceFixture.open()
    const expect1 = [{ vendor: 'Shop', event: 'purchase' }]
    const anchor = { kind: 'session' as const }
    const several = world.watch({
      alertType: 'journey',
      journey: {
        version: 2,
        steps: [
          { anchor, expect: expect1 },
          { anchor: { kind: 'page', path: '/x' }, expect: [{ event: 'y' }] },
        ],
      },
    })
    const labelled = world.watch({
      alertType: 'journey',
      journey: { version: 2, steps: [{ anchor, expect: [{ label: 'checkout' }] }] },
    })
    await world.send(1, { sessionId: 'a', event: 'view' })
    await world.send(2, { sessionId: 'b' })
    await world.send(3, { sessionId: 'b', path: '/x' })
    for (const alert of [several, labelled]) {
      await world.evaluate(alert, 0, 60)
      expect((await world.ask(world.issueOf(alert))).goodSample).toBeNull()
    }
  })
})
