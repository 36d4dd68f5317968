import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cast } from '../../test/fakes.ts'
import { PLAIN_PRIVACY } from '../conditions/privacy.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import { readConsent } from '../decoders/consent.ts'
import { type Random, randomOf } from '../detector/series.fixture.ts'
import { createDomain } from '../domains/store.ts'
import { updateOrg } from '../org/store.ts'
import { type Said, WarehouseStand } from '../warehouse/warehouse.fixture.ts'
import { type ConsentCheckParts, checkConsent } from './consent-check.ts'
import { ADVERTISING_VENDORS, GOOGLE_VENDORS } from './consent-vendors.ts'
import { listFindings } from './store.ts'

setDefaultTimeout(300_000)

/** A history with one organization and domain that is looked at. */
class Watched implements AsyncDisposable {
  private constructor(
    readonly stand: WarehouseStand,
    readonly orgId: string,
    readonly domainId: string,
  ) {}

  static async open(): Promise<Watched> {
    const stand = await WarehouseStand.open()
    const { alice } = cast(stand.db, stand.clock)
    const domainId = createDomain(stand.db, stand.clock, alice.orgId, { name: 'Shop' })
    updateOrg(stand.db, alice.orgId, { consentOptIn: true })
    return new Watched(stand, alice.orgId, domainId)
  }

  get parts(): ConsentCheckParts {
    const { db, warehouse, spool } = this.stand
    return { db, warehouse, spool, privacyOf: () => PLAIN_PRIVACY }
  }

  /** One event after the other, a second apart. */
  async send(...said: Said[]): Promise<void> {
    for (const one of said) {
      this.stand.clock.advance(SECOND_MS)
      await this.stand.add([{ orgId: this.orgId, domainId: this.domainId, ts: this.stand.clock.now(), ...one }])
    }
  }

  /** The first time, there must be a file; afterwards the spool is looked at too. */
  async check(): Promise<void> {
    if (this.stand.levels().length === 0) await this.stand.flush()
    this.stand.clock.advance(SECOND_MS)
    await checkConsent(this.parts)
  }

  findings() {
    const all = { orgId: this.orgId, consent: true, domainId: null, vendor: null, key: null, kind: null, action: null }
    return listFindings(this.stand.db, all, { limit: 1000, after: null })
  }

  /** `vendor kind count`, sorted. */
  found(): string[] {
    return this.findings()
      .map(({ vendor, kind, count }) => `${vendor} ${kind} ${count}`)
      .sort()
  }

  [Symbol.asyncDispose]() {
    return this.stand[Symbol.asyncDispose]()
  }
}

const GA4 = 'Google Analytics 4'
const ga4 = (gcd: string, more: Said = {}): Said => ({
  ...{ vendor: GA4, sessionId: 's', ...more },
  params: { gcs: 'G100', gcd, ...readConsent({ gcs: 'G100', gcd }), ...more.params },
})
const granted = (more: Said = {}): Said => ({
  ...{ vendor: GA4, sessionId: 's', ...more },
  params: { gcs: 'G111', gcd: '13r3r3r3r5', ...readConsent({ gcs: 'G111', gcd: '13r3r3r3r5' }) },
})
const meta = (more: Said = {}): Said => ({ vendor: 'Meta Pixel', sessionId: 's', params: { ev: 'PageView' }, ...more })
const DENIED = '13p3p3p3p5'

describe('made sessions', () => {
  const cases: [what: string, events: Said[], found: string[]][] = [
    ['a default that is denied', [ga4(DENIED)], []],
    [
      'neither gcs nor gcd',
      [{ vendor: GA4 }, { vendor: 'Google Ads', weight: 4 }],
      ['Google Ads no_signal 4', `${GA4} no_signal 1`],
    ],
    ['both blank', [{ vendor: GA4, params: { gcs: '', gcd: ' ' } }], [`${GA4} no_signal 1`]],
    ['gcs alone', [{ vendor: GA4, params: { gcs: 'G111' } }], []],
    [
      'loads of code, reports of a tag manager and tests',
      [
        { vendor: GA4, kind: 'library' },
        { vendor: GA4, kind: 'tag' },
        { vendor: GA4, env: 'dev' },
      ],
      [],
    ],
    ['others than Google', [{ vendor: 'Matomo' }, { vendor: 'Google Tag Manager' }], []],
    ['every letter l', [ga4('13l3l3l3l1')], [`${GA4} not_set 1`]],
    ['some letters l', [ga4('13l3p3p3l1')], []],
    ['an update without a default', [ga4('13n3p3p3p5'), ga4('13p3p3p3m5')], [`${GA4} no_default 2`]],
    ['granted by default', [ga4('13t3p3p3p5'), ga4('13v3v3v3v5')], [`${GA4} granted_by_default 2`]],
    ['both', [ga4('13t3n3p3p5')], [`${GA4} granted_by_default 1`, `${GA4} no_default 1`]],
    ['denied, then granted by update', [ga4('13q3q3q3q5'), ga4('13r3r3r3r5')], []],
    ['an advertising vendor after a denial', [ga4(DENIED), meta({ weight: 2 })], ['Meta Pixel after_denial 2']],
    ['before it', [meta(), ga4(DENIED)], []],
    ['after consent was given', [ga4(DENIED), granted(), meta()], []],
    ['after it was taken back', [granted(), ga4(DENIED), meta()], ['Meta Pixel after_denial 1']],
    ['another session', [ga4(DENIED), meta({ sessionId: 't' })], []],
    ['no session', [ga4(DENIED, { sessionId: null }), meta({ sessionId: null })], []],
    ['another domain', [ga4(DENIED, { domainId: 'dom_none' }), meta()], []],
    ['a vendor for analytics', [ga4(DENIED), { vendor: 'Matomo', sessionId: 's' }], []],
    ['its code, and a test', [ga4(DENIED), meta({ kind: 'library' }), meta({ env: 'dev' })], []],
    [
      'a request with a consent string of its own',
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
      'gcd alone, not decoded',
      [{ vendor: GA4, sessionId: 's', params: { gcd: DENIED } }, meta()],
      ['Meta Pixel after_denial 1'],
    ],
  ]
  test.each(cases)('%s', async (_, events, expected) => {
    await using watched = await Watched.open()
    await watched.send(...events)
    await watched.check()
    expect(watched.found()).toEqual(expected)
    // Again, and after the files were merged: nothing counts twice.
    await watched.stand.flush()
    await watched.stand.compact()
    await watched.check()
    expect(watched.found()).toEqual(expected)
  })

  test('say in one sentence what was seen, and since when', async () => {
    await using watched = await Watched.open()
    await watched.send({ vendor: GA4 }, ga4(DENIED), ga4(DENIED), meta())
    await watched.check()
    await watched.stand.flush()
    watched.stand.clock.advance(DAY_MS)
    await watched.send({ vendor: GA4 }, ...Array.from({ length: 6 }, () => ga4('13l3l3l3l1')))
    await watched.check()
    expect(
      watched
        .findings()
        .map(({ kind, example }) => `${kind}: ${example}`)
        .sort(),
    ).toEqual([
      'after_denial: On 2026-01-05 100 % of 1 requests of Meta Pixel were sent although ad_storage was denied or GPC was on; first seen 2026-01-05 12:00 UTC.',
      'no_signal: On 2026-01-06 14.3 % of 7 requests of Google Analytics 4 said nothing of consent (neither gcs nor gcd); first seen 2026-01-05 12:00 UTC.',
      'not_set: On 2026-01-06 85.7 % of 7 requests of Google Analytics 4 said that no consent was set (every letter of gcd is l); first seen 2026-01-06 12:00 UTC.',
    ])
    for (const { example } of watched.findings()) expect(example.length).toBeLessThanOrEqual(200)
  })

  test('a session whose signal came in an earlier look, and one whose signal is too old', async () => {
    await using watched = await Watched.open()
    await watched.send(ga4(DENIED), ga4(DENIED, { sessionId: 't' }))
    await watched.check()
    await watched.stand.flush()
    watched.stand.clock.advance(3 * HOUR_MS)
    await watched.send(meta())
    await watched.check()
    expect(watched.found()).toEqual(['Meta Pixel after_denial 1'])
    watched.stand.clock.advance(2 * HOUR_MS)
    await watched.send(meta({ sessionId: 't' }))
    await watched.check()
    expect(watched.found()).toEqual(['Meta Pixel after_denial 1'])
  })

  test('granted by default is a finding as long as people must opt in', async () => {
    await using watched = await Watched.open()
    const { db } = watched.stand
    updateOrg(db, watched.orgId, { consentOptIn: false })
    await watched.send(ga4('13t3t3t3t5'))
    await watched.check()
    expect(watched.found()).toEqual([])
    updateOrg(db, watched.orgId, { consentOptIn: true })
    expect(watched.found()).toEqual([`${GA4} granted_by_default 1`])
  })
})

const oneOf = <T>(list: readonly T[], random: Random) => list[Math.floor(random() * list.length)] as T

function anEvent(random: Random, n: number): Said {
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

/** The same, one event after the other. */
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

describe('over 20,000 events', () => {
  let watched: Watched
  beforeAll(async () => {
    watched = await Watched.open()
  })
  afterAll(() => watched[Symbol.asyncDispose]())

  test('however often it looks, and whatever is merged, restarted or killed in between, each request counts once', async () => {
    const { stand, orgId, domainId } = watched
    const random = randomOf(11)
    let n = 0
    while (stand.events.length < 20_000) {
      stand.clock.advance(3 * MINUTE_MS)
      const events = Array.from({ length: 100 }, () => anEvent(random, n++))
      await stand.add(events.map((event) => ({ orgId, domainId, ts: stand.clock.now(), ...event })))
      if (random() < 0.2) await watched.check()
      if (random() < 0.05) await stand.flush()
      if (random() < 0.03) {
        await stand.flush()
        await stand.compact(stand.clock.now())
      }
      if (random() < 0.03) {
        // Killed between the queries and the transaction.
        const { parts } = watched
        const query: typeof parts.warehouse.query = (asked) =>
          asked.name === 'compliance.after-denial' ? Promise.reject(new Error('killed')) : parts.warehouse.query(asked)
        const storage = () => parts.warehouse.storage()
        await checkConsent({ ...parts, warehouse: { query, storage } }).catch(() => {})
        await stand.reopen()
      }
    }
    await watched.check()
    // GPC that comes on later is not held against what was looked at before: sessions here live for an hour at most.
    const withoutDenials = (found: readonly string[]) => found.filter((one) => !one.includes('after_denial'))
    expect(withoutDenials(watched.found())).toEqual(withoutDenials(plainFound(stand.events)))
    expect(watched.found().length).toBeGreaterThan(12)
  })

  test('in one look it finds what a plain loop finds', async () => {
    const { stand } = watched
    for (const table of ['finding', 'consentCursor', 'consentDay', 'consentHour']) stand.db.exec(`DELETE FROM ${table}`)
    await watched.check()
    expect(watched.found()).toEqual(plainFound(stand.events))
  })
})
