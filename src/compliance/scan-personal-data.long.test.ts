import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { cast, testClock } from '../../test/fixtures.ts'
import { CARDS, IBANS } from '../conditions/personal-data.fixture.ts'
import { personalIn } from '../conditions/personal-data.ts'
import { personalCandidates } from '../conditions/personal-data-sql.ts'
import { type Privacy, privacyFrom } from '../conditions/privacy-settings.ts'
import { HOUR_MS, MINUTE_MS } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import { createDomain } from '../domains/store.ts'
import { privacySettings, updateOrg } from '../org/store.ts'
import { query } from '../warehouse/query.ts'
import { aKey, aValue, type EventFields, WarehouseFixture } from '../warehouse/warehouse.fixture.ts'
import { FIELDS, scanPersonalData } from './scan-personal-data.ts'
import { listFindings } from './store.ts'

const encoded = (text: string) => encodeURIComponent(text)
const PERSONAL = [
  'jane.doe@mail.example.com',
  'mail to: max+tag@shop.example now',
  'a@b.co,c@d.co',
  'x@2x.png',
  '+1 506 234 5678',
  '0049 1512 3456789',
  '00491512345678',
  '+44(0)20 7946 0958',
  '(030) 901820',
  '030 90 18 20',
  ...CARDS,
  ...CARDS.map((card) => (card.match(/.{1,4}/g) ?? []).join(' ')),
  ...IBANS.slice(0, 20),
  'DE89 3704 0044 0532 0130 00',
  'EMP-123456',
  'see EMP-000001 there',
  'emp-123456',
]
const HARMLESS = [
  '',
  ' ',
  '0',
  '42',
  'EUR',
  'https://shop.example/a?b=c%2Fd&e=%20f',
  '1970656995.1795151819',
  '1767614400000',
  '550e8400-e29b-41d4-a716-446655440000',
  '2026-01-05T12:00:00Z',
  '192.168.178.100',
  '1.000.000,00',
  '$&+,/:;=?@',
  'G-1ABC234DEF',
  'T-20260105-0001',
  '%',
  '%4',
  '%zz',
  '100%',
  '"quoted"',
  'line\nbreak',
  'tab\tbreak',
]
const KEYS = ['ep.user', 'phone', 'user.tel', 'cid', 'order_id', 'jane@key.example', '$title', 'title', '$email']

const aText = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...HARMLESS) },
  { weight: 1, arbitrary: aValue },
  { weight: 1, arbitrary: fc.bigInt(0n, 10n ** 16n).map(String) },
  { weight: 1, arbitrary: fc.bigInt(0n, 10n ** 13n).map((number) => String(number).padStart(13, '0')) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...PERSONAL),
        fc.constantFrom<(text: string) => string>(
          (text) => text,
          encoded,
          (text) => encoded(encoded(text)),
          (text) => `before\n${text}\tafter`,
          (text) => `https://a.example/?q=${encoded(text)}#x`,
          (text) => `é${text}"é`,
          (text) => text.replaceAll('0', '%30'),
        ),
      )
      .map(([text, wrap]) => wrap(text)),
  },
)

interface Stand {
  fixture: WarehouseFixture
  orgs: readonly [string, string]
  domains: readonly { id: string; orgId: string }[]
  privacyOf(orgId: string): Privacy
}

async function open(): Promise<Stand> {
  const fixture = await WarehouseFixture.open()
  const { alice, mallory } = cast(fixture.db, testClock())
  const orgs = [alice.orgId, mallory.orgId] as const
  updateOrg(fixture.db, alice.orgId, {
    phoneRegions: ['DE'],
    piiPatterns: [
      { name: 'employee', pattern: 'EMP-[0-9]{6}' },
      { name: 'exact', pattern: '^[0-9]{2}$' },
    ],
  })
  const domains = orgs.flatMap((orgId) =>
    ['a.example', 'b.example'].map((name) => ({ id: createDomain(fixture.db, testClock(), orgId, { name }), orgId })),
  )
  return { fixture, orgs, domains, privacyOf: (orgId) => privacyFrom(privacySettings(fixture.db, orgId)) }
}

const anEvent = (domains: Stand['domains']): fc.Arbitrary<EventFields> =>
  fc
    .record({
      domain: fc.constantFrom(...domains),
      vendor: fc.constantFrom('Google Analytics 4', 'Meta Pixel'),
      kind: fc.constantFrom('event', 'hit', 'tag', 'library'),
      env: fc.constantFrom('prod', 'dev'),
      weight: fc.constantFrom(1, 2.5, 10),
      title: fc.option(aText, { freq: 3 }),
      path: fc.option(aText, { freq: 3 }),
      account: fc.option(aText, { freq: 3 }),
      sessionId: fc.option(aText, { freq: 3 }),
      event: fc.oneof({ weight: 9, arbitrary: fc.constant('purchase') }, { weight: 1, arbitrary: aText }),
      params: fc.dictionary(fc.oneof(fc.constantFrom(...KEYS), aKey), aText, { maxKeys: 5, noNullPrototype: false }),
    })
    .map(({ domain: { id, orgId }, ...rest }) => ({ domainId: id, orgId, ...rest }) as EventFields)

/** Reference implementation of the scan. */
function reference(events: readonly StoredEvent[], orgId: string, privacy: Privacy) {
  const found = new Map<
    string,
    { count: number; formed: number; domainIds: Set<string>; first: number; last: number }
  >()
  for (const event of events) {
    if (event.orgId !== orgId) continue
    const { domainId, vendor, weight, receivedAt } = event
    const texts = Object.entries(event.params).map(([key, text]) => [
      FIELDS.map((name) => `$${name}`).includes(key) ? `$${key}` : key,
      text,
    ])
    for (const name of FIELDS) texts.push([`$${name}`, String(event[name as 'title'] ?? '')])
    for (const [key = '', text = ''] of texts) {
      const inName = key.startsWith('$') ? [] : personalIn('', key, privacy)
      for (const { kind, isReal } of [...personalIn(key, text, privacy), ...inName]) {
        const place = JSON.stringify([vendor, key, kind])
        const one = found.get(place) ?? { count: 0, formed: 0, domainIds: new Set(), first: receivedAt, last: 0 }
        found.set(place, one)
        one.formed += weight
        one.last = receivedAt
        if (!isReal) continue
        one.count += weight
        one.domainIds.add(domainId)
      }
    }
  }
  return found
}

describe('the personal data scan', () => {
  let one: Stand
  beforeAll(async () => {
    one = await open()
    const events = fc.sample(anEvent(one.domains), { numRuns: 20_000, seed: 4711 })
    for (let at = 0; at < events.length; at += 1000) {
      one.fixture.clock.advance(at % 4000 === 0 ? HOUR_MS : MINUTE_MS)
      await one.fixture.add(events.slice(at, at + 1000))
      // Flushes from time to time, so that some files are scanned when they are written, some after compaction, and
      // some after merging.
      if (at % 2000 === 0) await one.fixture.flush()
      if (at % 5000 === 0) await scanPersonalData({ db: one.fixture.db, warehouse: one.fixture.warehouse })
      if (at === 12_000) await one.fixture.compact()
      if (at === 15_000) await one.fixture.merge()
    }
    await one.fixture.flush()
    await scanPersonalData({ db: one.fixture.db, warehouse: one.fixture.warehouse })
  })
  afterAll(() => one?.fixture[Symbol.asyncDispose]())

  test('finds the same values as a plain loop over every event, and counts each value once', () => {
    for (const orgId of one.orgs) {
      const expected = reference(one.fixture.events, orgId, one.privacyOf(orgId))
      const rows = one.fixture.db
        .prepare<
          [string],
          {
            id: number
            vendor: string
            key: string
            kind: string
            count: number
            formed: number
            firstSeenAt: number
            lastSeenAt: number
          }
        >('SELECT * FROM finding WHERE orgId = ?')
        .all(orgId)
      // Names are masked when findings are stored, so names that contain an e-mail address are compared separately.
      const plain = [...expected].filter(([place]) => !place.includes('@'))
      const stored = new Map(rows.map((row) => [JSON.stringify([row.vendor, row.key, row.kind]), row]))
      for (const [place, { count, formed, domainIds, first, last }] of plain) {
        const row = stored.get(place)
        expect({ place, count: row?.count, formed: row?.formed }).toEqual({ place, count, formed })
        expect([row?.firstSeenAt, row?.lastSeenAt]).toEqual([first, last])
        const seen = one.fixture.db
          .prepare('SELECT domainId FROM findingDomain WHERE findingId = ?')
          .pluck()
          .all(row?.id)
        expect(seen.sort()).toEqual([...domainIds].sort())
      }
      const masked = new Set([...expected.keys()].filter((place) => place.includes('@')))
      expect(rows.length).toBeGreaterThanOrEqual(plain.length + (masked.size > 0 ? 1 : 0))
      expect(rows.length).toBeLessThanOrEqual(expected.size)
    }
  })

  test('counts nothing twice when it is repeated, even after compaction', async () => {
    const listed = () =>
      listFindings(
        one.fixture.db,
        { orgId: one.orgs[0], consent: false, domainIds: null, vendor: null, key: null, kind: null, action: null },
        { limit: 10_000, after: null },
      )
    const before = listed()
    expect(before.length).toBeGreaterThan(20)
    await scanPersonalData({ db: one.fixture.db, warehouse: one.fixture.warehouse })
    await one.fixture.compact()
    await scanPersonalData({ db: one.fixture.db, warehouse: one.fixture.warehouse })
    expect(listed()).toEqual(before)
  })
})

test('the candidates selected by SQL include every personal value', async () => {
  const { fixture, orgs, privacyOf } = await open()
  try {
    const domain = { orgId: orgs[0], domainId: 'dom_1' }
    const texts = fc.sample(aText, { numRuns: 5000, seed: 7 })
    const said = texts.map(
      (text, n): EventFields => ({ ...domain, title: text, params: { [KEYS[n % KEYS.length] ?? '']: text } }),
    )
    await fixture.add(said)
    await fixture.flush()
    const privacy = privacyOf(orgs[0])
    const ask = () =>
      fixture.warehouse.query<{ seq: number; near: boolean; isField: boolean; holds: boolean; key: string }>(
        query('test', {
          orgId: null,
          window: { from: 0, to: Number.MAX_SAFE_INTEGER },
          write(binder) {
            const { any, own, field, entry } = personalCandidates(binder, [{ orgId: orgs[0], privacy }])
            return {
              sql: `SELECT seq, near, key, isField, ${entry('key', 'value')} AS holds FROM (
                SELECT seq, orgId, (${any.column} OR ${field('title')} OR ${own}) AS near, ${binder.dialect.textRows(['title'])} FROM events)`,
              wholeParams: true,
              anyTests: [any],
            }
          },
        }),
      )
    for (const inOrder of [false, true]) {
      if (inOrder) await fixture.compact()
      const rows = await ask()
      expect(rows).toHaveLength(2 * texts.length)
      const bySeq = new Map(fixture.events.map((event) => [event.seq, event]))
      for (const { seq, near, key, isField, holds } of rows) {
        const event = bySeq.get(seq)
        const text = (isField ? event?.title : event?.params[key]) ?? ''
        if (personalIn(isField ? '$title' : key, text, privacy).length === 0) continue
        expect({ key, text, near, holds }).toEqual({ key, text, near: true, holds: true })
      }
    }
  } finally {
    await fixture[Symbol.asyncDispose]()
  }
})

test("an uncommitted scan is repeated, and a scan of files that have been replaced can't be committed", async () => {
  const { fixture, domains, orgs } = await open()
  try {
    const [domain] = domains
    const said = { ...domain, domainId: domain?.id, params: { mail: 'jane@a.example' } } as EventFields
    await fixture.add([said])
    await fixture.flush()
    const asked = query('test', {
      orgId: null,
      window: { from: 0, to: Number.MAX_SAFE_INTEGER },
      write: () => ({ sql: 'SELECT count(*) AS events FROM events' }),
    })
    const first = await fixture.warehouse.scanNewEvents(asked)
    expect(first?.rows).toEqual([{ events: 1 }])
    await fixture.reopen()
    const second = await fixture.warehouse.scanNewEvents(asked)
    expect(second?.events).toBe(1)
    await fixture.compact()
    expect(second?.commit(() => expect.unreachable())).toBe(false)
    await scanPersonalData({ db: fixture.db, warehouse: fixture.warehouse })
    await fixture.reopen()
    await scanPersonalData({ db: fixture.db, warehouse: fixture.warehouse })
    const filter = { consent: false, domainIds: null, vendor: null, key: null, kind: null, action: null }
    expect(listFindings(fixture.db, { orgId: orgs[0], ...filter }, { limit: 10, after: null })).toMatchObject([
      { key: 'mail', kind: 'email', count: 1 },
    ])
    expect(await fixture.warehouse.scanNewEvents(asked)).toBeNull()
  } finally {
    await fixture[Symbol.asyncDispose]()
  }
})
