import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cast } from '../../test/fixtures.ts'
import { testApp } from '../../test/test-app.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import { readConsent } from '../decoders/consent.ts'
import { type Random, randomOf } from '../detector/series.fixture.ts'
import { createDomain } from '../domains/store.ts'
import { updateOrg } from '../org/store.ts'
import { capturedEvents, capturesFolder } from '../warehouse/captures.fixture.ts'
import { visibleEvents } from '../warehouse/visible-events.ts'
import { type EventFields, WarehouseFixture } from '../warehouse/warehouse.fixture.ts'
import { type ConsentCheckDeps, checkConsent } from './consent-check.ts'
import { resetConsentCounts } from './consent-store.ts'
import { ADVERTISING_VENDORS, GOOGLE_VENDORS } from './consent-vendors.ts'
import { listFindings } from './store.ts'

/** A history of one organization with one domain, and the consent check for it. */
class Watched implements AsyncDisposable {
  private constructor(
    readonly fixture: WarehouseFixture,
    readonly orgId: string,
    readonly domainId: string,
  ) {}

  static async open(): Promise<Watched> {
    const fixture = await WarehouseFixture.open()
    const { alice } = cast(fixture.db, fixture.clock)
    const domainId = createDomain(fixture.db, fixture.clock, alice.orgId, { name: 'Shop' })
    updateOrg(fixture.db, alice.orgId, { consentOptIn: true })
    return new Watched(fixture, alice.orgId, domainId)
  }

  get parts(): ConsentCheckDeps {
    const { db, warehouse, spool } = this.fixture
    return { db, warehouse, visible: visibleEvents(spool, warehouse), privacyOf: () => PLAIN_PRIVACY }
  }

  /** Sends events in order, one second apart. */
  async send(...said: EventFields[]): Promise<void> {
    for (const one of said) {
      this.fixture.clock.advance(SECOND_MS)
      await this.fixture.add([{ orgId: this.orgId, domainId: this.domainId, ts: this.fixture.clock.now(), ...one }])
    }
  }

  /** Runs the check. The first run needs a file; later runs also read the spool. */
  async check(): Promise<void> {
    if (this.fixture.levels().length === 0) await this.fixture.flush()
    this.fixture.clock.advance(SECOND_MS)
    await checkConsent(this.parts)
  }

  findings() {
    const all = { orgId: this.orgId, consent: true, domainIds: null, vendor: null, key: null, kind: null, action: null }
    return listFindings(this.fixture.db, all, { limit: 1000, after: null })
  }

  /** Returns the findings as `vendor kind count`, sorted. */
  found(): string[] {
    return this.findings()
      .map(({ vendor, kind, count }) => `${vendor} ${kind} ${count}`)
      .sort()
  }

  [Symbol.asyncDispose]() {
    return this.fixture[Symbol.asyncDispose]()
  }
}

const GA4 = 'Google Analytics 4'
const ga4 = (gcd: string, more: EventFields = {}): EventFields => ({
  vendor: GA4,
  sessionId: 's',
  ...more,
  params: { gcs: 'G100', gcd, ...readConsent({ gcs: 'G100', gcd }), ...more.params },
})
const granted = (more: EventFields = {}): EventFields => ({
  vendor: GA4,
  sessionId: 's',
  ...more,
  params: { gcs: 'G111', gcd: '13r3r3r3r5', ...readConsent({ gcs: 'G111', gcd: '13r3r3r3r5' }) },
})
const meta = (more: EventFields = {}): EventFields => ({
  vendor: 'Meta Pixel',
  sessionId: 's',
  params: { ev: 'PageView' },
  ...more,
})
const DENIED = '13p3p3p3p5'

describe('the consent check of generated sessions', () => {
  const cases: [what: string, events: EventFields[], found: string[]][] = [
    ['denied by default', [ga4(DENIED)], []],
    [
      'neither gcs nor gcd',
      [{ vendor: GA4 }, { vendor: 'Google Ads', weight: 4 }],
      ['Google Ads no_signal 4', `${GA4} no_signal 1`],
    ],
    ['gcs and gcd blank', [{ vendor: GA4, params: { gcs: '', gcd: ' ' } }], [`${GA4} no_signal 1`]],
    ['gcs without gcd', [{ vendor: GA4, params: { gcs: 'G111' } }], []],
    [
      'library loads, tag manager reports and tests',
      [
        { vendor: GA4, kind: 'library' },
        { vendor: GA4, kind: 'tag' },
        { vendor: GA4, env: 'dev' },
      ],
      [],
    ],
    ['vendors other than Google', [{ vendor: 'Matomo' }, { vendor: 'Google Tag Manager' }], []],
    ['only the letter l in gcd', [ga4('13l3l3l3l1')], [`${GA4} not_set 1`]],
    ['some letters l in gcd', [ga4('13l3p3p3l1')], []],
    ['an update without a default', [ga4('13n3p3p3p5'), ga4('13p3p3p3m5')], [`${GA4} no_default 2`]],
    ['granted by default', [ga4('13t3p3p3p5'), ga4('13v3v3v3v5')], [`${GA4} granted_by_default 2`]],
    [
      'granted by default, and an update without a default',
      [ga4('13t3n3p3p5')],
      [`${GA4} granted_by_default 1`, `${GA4} no_default 1`],
    ],
    ['denied, then granted by update', [ga4('13q3q3q3q5'), ga4('13r3r3r3r5')], []],
    ['an advertising vendor after a denial', [ga4(DENIED), meta({ weight: 2 })], ['Meta Pixel after_denial 2']],
    ['an advertising vendor before a denial', [meta(), ga4(DENIED)], []],
    ['an advertising vendor after consent was given', [ga4(DENIED), granted(), meta()], []],
    [
      'an advertising vendor after consent was withdrawn',
      [granted(), ga4(DENIED), meta()],
      ['Meta Pixel after_denial 1'],
    ],
    ['a denial in another session', [ga4(DENIED), meta({ sessionId: 't' })], []],
    ['a denial without a session', [ga4(DENIED, { sessionId: null }), meta({ sessionId: null })], []],
    ['a denial in another domain', [ga4(DENIED, { domainId: 'dom_none' }), meta()], []],
    ['an analytics vendor after a denial', [ga4(DENIED), { vendor: 'Matomo', sessionId: 's' }], []],
    ['a library load and a test after a denial', [ga4(DENIED), meta({ kind: 'library' }), meta({ env: 'dev' })], []],
    [
      'a request with its own consent string',
      [ga4(DENIED), meta({ params: { gdpr: '1', 'consent.gdpr': 'applies' } })],
      [],
    ],
    [
      'GPC on, without a signal',
      [meta(), { vendor: 'Shop', sessionId: 's', params: { gpc: '1' } }],
      ['Meta Pixel after_denial 1'],
    ],
    [
      'GPC on, although consent was given',
      [granted(), { vendor: 'Shop', sessionId: 's', params: { gpc: 'true' } }, meta()],
      ['Meta Pixel after_denial 1'],
    ],
    ['GPC off', [meta(), { vendor: 'Shop', sessionId: 's', params: { gpc: '0' } }], []],
    [
      "Microsoft's signal",
      [{ vendor: 'Microsoft Advertising UET', sessionId: 's', params: { asc: 'D' } }, meta()],
      ['Meta Pixel after_denial 1'],
    ],
    [
      'a signal that was not decoded',
      [{ vendor: 'Server', sessionId: 's', params: { gcs: 'G101' } }, meta()],
      ['Meta Pixel after_denial 1'],
    ],
    [
      'gcd without gcs, not decoded',
      [{ vendor: GA4, sessionId: 's', params: { gcd: DENIED } }, meta()],
      ['Meta Pixel after_denial 1'],
    ],
  ]
  test.each(cases)('returns the expected findings: %s', async (_, events, expected) => {
    await using watched = await Watched.open()
    await watched.send(...events)
    await watched.check()
    expect(watched.found()).toEqual(expected)
    // A second check, after the files were merged, must not count any request twice.
    await watched.fixture.flush()
    await watched.fixture.compact()
    await watched.check()
    expect(watched.found()).toEqual(expected)
  })

  test('describes a finding and its first occurrence', async () => {
    await using watched = await Watched.open()
    await watched.send({ vendor: GA4 }, ga4(DENIED), ga4(DENIED), meta())
    await watched.check()
    await watched.fixture.flush()
    watched.fixture.clock.advance(DAY_MS)
    await watched.send({ vendor: GA4 }, ...Array.from({ length: 6 }, () => ga4('13l3l3l3l1')))
    await watched.check()
    expect(
      watched
        .findings()
        .map(({ kind, example }) => `${kind}: ${example}`)
        .sort(),
    ).toEqual([
      'after_denial: On 5 Jan 2026 (UTC), 100 % of 1 requests to Meta Pixel were sent although ad_storage was denied or GPC was on; first seen 5 Jan 2026, 12:00 UTC.',
      'no_signal: On 6 Jan 2026 (UTC), 14.3 % of 7 requests to Google Analytics 4 carried no consent signal (neither gcs nor gcd); first seen 5 Jan 2026, 12:00 UTC.',
      'not_set: On 6 Jan 2026 (UTC), 85.7 % of 7 requests to Google Analytics 4 reported that consent was not set (every letter of gcd is l); first seen 6 Jan 2026, 12:00 UTC.',
    ])
    for (const { example } of watched.findings()) expect(example.length).toBeLessThanOrEqual(200)
  })

  test('uses a signal from before the previous check, unless the signal is too old', async () => {
    await using watched = await Watched.open()
    await watched.send(ga4(DENIED), ga4(DENIED, { sessionId: 't' }))
    await watched.check()
    await watched.fixture.flush()
    watched.fixture.clock.advance(3 * HOUR_MS)
    await watched.send(meta())
    await watched.check()
    expect(watched.found()).toEqual(['Meta Pixel after_denial 1'])
    watched.fixture.clock.advance(2 * HOUR_MS)
    await watched.send(meta({ sessionId: 't' }))
    await watched.check()
    expect(watched.found()).toEqual(['Meta Pixel after_denial 1'])
  })

  test('reports consent granted by default only if the organization requires opt-in', async () => {
    await using watched = await Watched.open()
    const { db } = watched.fixture
    updateOrg(db, watched.orgId, { consentOptIn: false })
    await watched.send(ga4('13t3t3t3t5'))
    await watched.check()
    expect(watched.found()).toEqual([])
    updateOrg(db, watched.orgId, { consentOptIn: true })
    expect(watched.found()).toEqual([`${GA4} granted_by_default 1`])
  })
})

const oneOf = <T>(list: readonly T[], random: Random) => list[Math.floor(random() * list.length)] as T

function anEvent(random: Random, n: number): EventFields {
  const gcs = oneOf(['G100', 'G111', 'G101', 'G1--', '', undefined, undefined], random)
  const gcd = oneOf(
    [DENIED, '13r3r3r3r5', '13l3l3l3l1', '13m3n3p3p5', '13t3t3t3t5', '13v3q3p3u5', '', 'x', undefined],
    random,
  )
  const vendor = oneOf(
    [...Object.keys(GOOGLE_VENDORS), ...Object.keys(ADVERTISING_VENDORS).slice(0, 4), 'Matomo', ''],
    random,
  )
  const isGoogle = Object.hasOwn(GOOGLE_VENDORS, vendor)
  const raw =
    isGoogle || random() < 0.05 ? { ...(gcs === undefined ? {} : { gcs }), ...(gcd === undefined ? {} : { gcd }) } : {}
  const other =
    random() < 0.03
      ? { [oneOf(['gpc', 'asc', 'gdpr'], random)]: oneOf(['1', '0', 'D', 'G', 'true', '😀'], random) }
      : {}
  const sent = { ...raw, ...other } as Record<string, string>
  return {
    vendor,
    kind: oneOf(['event', 'event', 'event', 'hit', 'tag', 'library'], random),
    env: random() < 0.95 ? 'prod' : 'dev',
    weight: oneOf([1, 1, 2, 4], random),
    sessionId: oneOf([null, '', `s${Math.floor(n / 30)}`, `s${Math.floor(n / 30)}`, `t${n % 40}`], random),
    params: { ...sent, ...(random() < 0.8 ? readConsent(sent) : {}) },
  }
}

/** Returns the expected findings, computed event by event. */
function plainFound(events: readonly StoredEvent[]): string[] {
  const counts = new Map<string, number>()
  const add = ({ vendor, weight }: StoredEvent, kind: string) =>
    counts.set(`${vendor} ${kind}`, (counts.get(`${vendor} ${kind}`) ?? 0) + weight)
  const real = events.filter(({ env, kind }) => env === 'prod' && (kind === 'event' || kind === 'hit'))
  const gpcOn = new Set<string | null>()
  for (const { sessionId, params } of real) if (['1', 'true'].includes(params.gpc ?? '')) gpcOn.add(sessionId)
  const signals = new Map<string, { state: string; at: number }>()
  for (const event of real) {
    const { vendor, sessionId, params, receivedAt } = event
    const { gcs = '', gcd = '' } = params
    if (Object.hasOwn(GOOGLE_VENDORS, vendor)) {
      const letters = [...gcd].filter((letter) => letter >= 'a' && letter <= 'z')
      if (gcs === '' && gcd === '') add(event, 'no_signal')
      else if (letters.length > 0 && letters.every((letter) => letter === 'l')) add(event, 'not_set')
      if (letters.some((letter) => 'mn'.includes(letter))) add(event, 'no_default')
      if (letters.some((letter) => 'tv'.includes(letter))) add(event, 'granted_by_default')
    }
    if (sessionId === null || sessionId === '') continue
    const words = readConsent(params)
    const state = words['consent.ad_storage'] ?? params['consent.ad_storage']
    if (Object.hasOwn(ADVERTISING_VENDORS, vendor)) {
      const says = ['gcs', 'gcd', 'asc'].some((key) => key in params) || 'consent.gdpr' in params
      const signal = signals.get(sessionId)
      const isDenied = signal?.state === 'denied' && signal.at >= receivedAt - 4 * HOUR_MS
      if (!says && (isDenied || gpcOn.has(sessionId))) add(event, 'after_denial')
    }
    if (state) signals.set(sessionId, { state, at: receivedAt })
  }
  return [...counts].map(([name, count]) => `${name} ${count}`).sort()
}

describe('the consent check of 20,000 events', () => {
  let watched: Watched
  beforeAll(async () => {
    watched = await Watched.open()
  })
  afterAll(() => watched[Symbol.asyncDispose]())

  test('counts each request once despite repeated checks, merges, restarts and kills', async () => {
    const { fixture, orgId, domainId } = watched
    const random = randomOf(11)
    let n = 0
    while (fixture.events.length < 20_000) {
      fixture.clock.advance(3 * MINUTE_MS)
      const events = Array.from({ length: 100 }, () => anEvent(random, n++))
      await fixture.add(events.map((event) => ({ orgId, domainId, ts: fixture.clock.now(), ...event })))
      if (random() < 0.2) await watched.check()
      if (random() < 0.05) await fixture.flush()
      if (random() < 0.03) {
        await fixture.flush()
        await fixture.compact(fixture.clock.now())
      }
      if (random() < 0.03) {
        // Simulates a crash between the queries and the transaction.
        const { parts } = watched
        const query: typeof parts.warehouse.query = (asked) =>
          asked.name === 'compliance.after-denial' ? Promise.reject(new Error('killed')) : parts.warehouse.query(asked)
        const hasEvents: typeof parts.warehouse.hasEvents = (window) => parts.warehouse.hasEvents(window)
        const storage = () => parts.warehouse.storage()
        await checkConsent({ ...parts, warehouse: { query, hasEvents, storage } }).catch(() => {})
        await fixture.reopen()
      }
    }
    await watched.check()
    // Denials are excluded, because GPC that is turned on later in a session does not affect earlier checks. Sessions
    // here last at most an hour.
    const withoutDenials = (found: readonly string[]) => found.filter((one) => !one.includes('after_denial'))
    expect(withoutDenials(watched.found())).toEqual(withoutDenials(plainFound(fixture.events)))
    expect(watched.found().length).toBeGreaterThan(12)
  })

  test('returns the same findings in a single check as in a simple loop', async () => {
    const { fixture } = watched
    for (const table of ['finding', 'consentCursor', 'consentDay', 'consentHour'])
      fixture.db.exec(`DELETE FROM ${table}`)
    await watched.check()
    expect(watched.found()).toEqual(plainFound(fixture.events))
  })
})

test('the running program collects events and lists the finding, and after a kill it counts nothing twice', async () => {
  await using world = await testApp()
  const { token, id } = (await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })).body
  expect((await world.call('PATCH', '/v1/org', { body: { consentOptIn: true } })).body.consentOptIn).toBe(true)
  const g = 'https://www.google-analytics.com/g/collect?v=2&tid=G-1&en=page_view'
  const urls = [
    g,
    `${g}&gcs=G111&gcd=13t3t3t3t5`,
    `${g}&gcs=G100&gcd=13q3q3q3q5`,
    'https://www.facebook.com/tr/?id=1&ev=PageView',
  ]
  for (const url of urls) {
    world.clock.advance(SECOND_MS)
    await world.collect(token, { sessionId: 's', sentAt: world.clock.now(), hits: [{ url, ts: world.clock.now() }] })
  }
  const found = async () => {
    const { findings } = (await world.call('GET', `/v1/compliance/consent?domainId=${id}`)).body
    return findings.map(({ vendor, kind, count }: Record<string, unknown>) => `${vendor} ${kind} ${count}`).sort()
  }
  world.clock.advance(SECOND_MS)
  await world.run('flush', 'check consent')
  const expected = [`${GA4} granted_by_default 1`, `${GA4} no_signal 1`, 'Meta Pixel after_denial 1']
  expect(await found()).toEqual(expected)
  await world.crash()
  world.clock.advance(SECOND_MS)
  await world.run('flush', 'check consent', 'retain')
  expect(await found()).toEqual(expected)
})

describe('answers to the banner on eight days', () => {
  /**
   * Sends seven days on which two out of three visitors answer the banner, then a day on which no visitor answers after
   * the hour `brokenAt` begins.
   */
  async function visits(watched: Watched, brokenAt: number): Promise<void> {
    const { fixture, orgId, domainId } = watched
    const start = fixture.clock.now()
    for (let hour = 0; hour < 8 * 24; hour++) {
      fixture.clock.set(start + hour * HOUR_MS)
      const isBroken = hour >= 7 * 24 + brokenAt
      const events = Array.from({ length: 12 }, (_, n) => {
        const session = { sessionId: `${hour}-${n}`, orgId, domainId }
        const answers = !isBroken && n % 3 > 0
        return [ga4(DENIED, session), ...(answers ? [ga4(n % 2 ? '13r3r3r3r5' : '13q3q3q3q5', session)] : [])]
      })
      await fixture.add(events.flat())
      if (hour % 40 === 39) await fixture.flush()
    }
    fixture.clock.set(start + 8 * DAY_MS + HOUR_MS)
  }

  test('cause a finding when they stop for a day, which counts each session once', async () => {
    await using watched = await Watched.open()
    await visits(watched, 0)
    await watched.check()
    const [finding, ...others] = watched.findings()
    expect(others).toEqual([])
    expect(finding).toMatchObject({ vendor: GA4, key: '$consent', kind: 'update_rate', domainIds: [watched.domainId] })
    expect(finding?.count).toBeGreaterThan(200)
    expect(finding?.count).toBeLessThanOrEqual(24 * 12 + 24 * 12)
    expect(finding?.example).toMatch(
      /^0 % of \d+ sessions denied by default answered the banner from .* to .* UTC, compared with 66\.7 % in the previous seven days\.$/,
    )
    const before = watched.findings()
    await watched.check()
    expect(watched.findings()).toEqual(before)
  })

  test('cause the same finding when checked every few hours', async () => {
    await using atOnce = await Watched.open()
    await visits(atOnce, 10)
    await atOnce.check()
    await using bitByBit = await Watched.open()
    const { fixture } = bitByBit
    await visits(bitByBit, 10)
    await fixture.flush()
    const { parts } = bitByBit
    for (let at = fixture.events[0]?.receivedAt ?? 0; at < fixture.clock.now(); at += 5 * HOUR_MS + 7 * MINUTE_MS) {
      await checkConsent({ ...parts, visible: { watermark: () => at } })
    }
    await bitByBit.check()
    expect(bitByBit.found()).toEqual(atOnce.found())
    expect(bitByBit.found()).toHaveLength(1)
  })

  test('cause no finding on ordinary days', async () => {
    await using watched = await Watched.open()
    await visits(watched, 24)
    await watched.check()
    expect(watched.found()).toEqual([])
  })

  test('are counted again after a reset, without counting any event twice', async () => {
    await using watched = await Watched.open()
    await visits(watched, 0)
    await watched.send({ vendor: GA4 })
    await watched.check()
    const before = watched.found()
    resetConsentCounts(watched.fixture.db)
    expect(watched.found()).toEqual([])
    await watched.check()
    expect(watched.found()).toEqual(before)
  })
})

describe.skipIf(capturesFolder === null)(
  `real captures${capturesFolder ? '' : ' (skipped: the folder of captures is missing)'}`,
  () => {
    /** Returns the findings for the matching captures. The events in `also` are added to each capture. */
    async function foundIn(isMeant: (name: string) => boolean, also: EventFields[] = []): Promise<string[]> {
      await using watched = await Watched.open()
      const { fixture, orgId, domainId } = watched
      const captured = capturedEvents(capturesFolder ?? '', { id: domainId, orgId })
      for (const [name, events] of Map.groupBy(captured, ({ sessionId }) => sessionId ?? '')) {
        if (!isMeant(name)) continue
        fixture.clock.advance(MINUTE_MS)
        await fixture.add(events.map((event) => ({ ...event, ts: fixture.clock.now() })))
        await watched.send(...also.map((event) => ({ ...event, sessionId: name })))
      }
      await watched.check()
      return watched.found()
    }

    test('cause the expected findings, because most were recorded without consent mode', async () => {
      expect(await foundIn(() => true)).toEqual([
        'Google Ads no_signal 4',
        `${GA4} no_signal 4`,
        `${GA4} not_set 6`,
        'Google Floodlight no_signal 12',
        'Google Universal Analytics no_signal 51',
        'Google Universal Analytics not_set 1',
      ])
    })

    test.each<[name: string, found: string[]]>([
      ['sdkcap__ga4_minimal', [`${GA4} no_signal 3`]],
      ['user-flows__artifacts__step0', [`${GA4} not_set 2`]],
      [
        'www.izettle.com',
        ['Google Ads no_signal 2', 'Google Floodlight no_signal 1', 'Google Universal Analytics no_signal 3'],
      ],
      // The banner was declined, and the page has no other tags.
      ['early-hints', []],
      // One tag sends default, update and not set for different signals. The other tag sends no signals.
      ['lighthouse__core__test__fixtures__artifacts__lr', ['Google Universal Analytics no_signal 2']],
    ])('from %s cause the findings %j', async (name, found) => {
      expect(await foundIn((one) => one.includes(name))).toEqual(found)
    })

    test('with consent denied cause a finding when a pixel is sent anyway', async () => {
      expect(await foundIn((name) => name.includes('early-hints'), [meta(), granted(), meta()])).toEqual([
        'Meta Pixel after_denial 1',
      ])
    })
  },
)
