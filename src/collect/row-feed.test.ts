import { beforeEach, describe, expect, test } from 'bun:test'
import { type Cast, cast, memoryDb, TEST_START, testClock } from '../../test/fixtures.ts'
import { validationInput } from '../alerts/alert.fixture.ts'
import type { AlertInput } from '../alerts/alert.ts'
import { createAlert, setEnabled } from '../alerts/alert-store.ts'
import {
  applyRows,
  type ChangedRow,
  COPIED_TABLES,
  changedRows,
  epochOf,
  latestVersion,
  replaceRows,
} from '../collectors/row-feed.ts'
import { domainDirectory } from '../domains/domain-directory.ts'
import { createDomain, deleteDomain, findDomain, rotateToken, setHostnameStatus } from '../domains/store.ts'
import { assign, deleteLabel, listLabels, membersOf } from '../labels/store.ts'
import { type Db, tx } from '../store/database.ts'

const clock = testClock()
let db: Db
let copy: Db
let people: Cast
let version: number

beforeEach(() => {
  db = memoryDb()
  copy = memoryDb()
  people = cast(db, clock)
  version = 0
})

/** Copies all changes, and returns the changed rows. */
function follow(): ChangedRow[] {
  const all: ChangedRow[] = []
  for (let hasMore = true; hasMore; ) {
    const changes = changedRows(db, version)
    applyRows(copy, JSON.parse(JSON.stringify(changes.rows)), () => {})
    all.push(...changes.rows)
    ;({ version, hasMore } = changes)
  }
  return all
}

const newDomain = (name = 'Shop') => {
  const id = createDomain(db, clock, people.orgId, { name })
  return { orgId: people.orgId, id }
}
const tokenOf = (domain: { orgId: string; id: string }) => findDomain(db, domain, clock.now()).token
const rule = (domainId: string): AlertInput => ({
  ...validationInput,
  domainId,
  channels: [{ type: 'webhook', target: 'https://hooks.example.com/secret' }],
})
const countsOf = (of: Db) =>
  COPIED_TABLES.map((table) => [table, of.prepare(`SELECT count(*) FROM ${table}`).pluck().get()])

describe('a copy', () => {
  test('has the domains, hostnames, rules and labels that a collector needs, without secrets', () => {
    const domain = newDomain()
    setHostnameStatus(db, domain, 'evil.example', 'denied')
    setHostnameStatus(db, domain, 'fine.example', 'approved')
    createAlert(db, clock, people.orgId, rule(domain.id))
    assign(db, clock, people.orgId, { label: 'Checkout', members: [{ vendor: 'GA4', event: 'purchase' }] })
    follow()
    const directory = domainDirectory({ db: copy, clock })
    expect(directory.byToken(tokenOf(domain))).toMatchObject(domain)
    expect(directory.isDenied(domain.id, 'evil.example')).toBe(true)
    expect(membersOf(copy, people.orgId)('checkout')).toEqual([{ vendor: 'GA4', event: 'purchase' }])
    expect(copy.prepare('SELECT hostname FROM hostname').pluck().all()).toEqual(['evil.example'])
    const whole = JSON.stringify(COPIED_TABLES.map((table) => copy.prepare(`SELECT * FROM ${table}`).all()))
    expect(whole).toContain('is_blank')
    expect(whole).not.toContain('hooks.example.com')
    expect(copy.prepare('SELECT DISTINCT length(webhookSecret) FROM org').pluck().all()).toEqual([0])
  })

  test('follows changes and deletions', () => {
    const domain = newDomain()
    const alert = createAlert(db, clock, people.orgId, rule(domain.id))
    setHostnameStatus(db, domain, 'evil.example', 'denied')
    assign(db, clock, people.orgId, { label: 'Checkout', members: [{ vendor: 'GA4', event: 'purchase' }] })
    follow()
    const old = tokenOf(domain)
    rotateToken(db, clock, domain)
    setEnabled(db, clock, { orgId: people.orgId, id: alert.id }, false)
    setHostnameStatus(db, domain, 'evil.example', 'approved')
    const { items } = listLabels(db, people.orgId, { limit: 10 }) as unknown as { items: { id: string }[] }
    deleteLabel(db, { orgId: people.orgId, id: items[0]?.id ?? '' })
    follow()
    const directory = domainDirectory({ db: copy, clock })
    expect([tokenOf(domain), old].map((token) => directory.byToken(token)?.id)).toEqual([domain.id, domain.id])
    expect(directory.isDenied(domain.id, 'evil.example')).toBe(false)
    expect(copy.prepare('SELECT enabled FROM alert').pluck().all()).toEqual([0])
    expect(copy.prepare('SELECT count(*) FROM labelMember').pluck().get()).toBe(0)
    deleteDomain(db, domain)
    follow()
    expect(copy.prepare('SELECT count(*) FROM domain').pluck().get()).toBe(0)
  })

  test('is not told about changes that concern nothing in it', () => {
    const domain = newDomain()
    follow()
    db.prepare('UPDATE domain SET lastEventAt = 1, prodVersion = 2 WHERE id = ?').run(domain.id)
    db.prepare('UPDATE alert SET evaluatedThrough = 5').run()
    setHostnameStatus(db, domain, 'fine.example', 'approved')
    expect(follow()).toEqual([])
  })

  test('has every row of a long feed, in pages, and of a feed that is read again', () => {
    for (let index = 0; index < 1200; index++) newDomain(`Shop ${index}`)
    follow()
    expect(countsOf(copy)).toEqual(countsOf(db))
    expect(version).toBe(latestVersion(db))
    version = 0
    follow()
    expect(countsOf(copy)).toEqual(countsOf(db))
  })

  test('that is made again loses the rows that no longer exist', () => {
    const [kept, gone] = [newDomain('A'), newDomain('B')]
    setHostnameStatus(db, gone, 'evil.example', 'denied')
    follow()
    const all = changedRows(db, 0).rows.filter(({ key }) => key[0] !== gone.id)
    replaceRows(copy, all, () => {})
    expect(copy.prepare('SELECT id FROM domain').pluck().all()).toEqual([kept.id])
    expect(copy.prepare('SELECT count(*) FROM hostname').pluck().get()).toBe(0)
  })
})

test('a change is in the feed although its statement has a conflict clause, and not when it is rolled back', () => {
  const domain = newDomain()
  follow()
  const insert = db.prepare(
    `INSERT OR IGNORE INTO hostname (domainId, hostname, status) VALUES (?, 'a.example', 'denied')
     ON CONFLICT DO UPDATE SET status = 'denied'`,
  )
  insert.run(domain.id)
  db.prepare(`UPDATE OR IGNORE hostname SET status = 'approved'`).run()
  insert.run(domain.id)
  expect(follow()).toMatchObject([{ table: 'hostname', row: { status: 'denied' } }])
  expect(() =>
    tx(db, () => {
      deleteDomain(db, domain)
      throw new Error('rolled back')
    }),
  ).toThrow('rolled back')
  expect(follow()).toEqual([])
})

test('the epoch grows when the folder is another one', () => {
  const first = epochOf(db, 'a', TEST_START)
  expect(epochOf(db, 'a', TEST_START + 5)).toBe(first)
  const second = epochOf(db, 'b', TEST_START - 1000)
  expect(second).toBeGreaterThan(first)
  expect(epochOf(db, 'a', TEST_START + 5000)).toBeGreaterThan(second)
})
